import Base
import Schemas
import TestSupport
import Testing

/// What students do on a simulated day.
extension DaySimulation {
    /// A step of a student: walks, reports as a host, and now and then decides what to do.
    func act(_ index: Int) async throws {
        students[index].walk()
        let now = clock.now
        if let until = students[index].offlineUntil {
            guard until <= now else { return }
            students[index].offlineUntil = nil
        }
        let session = model.current(of: students[index].name)
        if let session, session.host == students[index].name { try await report(index, session) }
        guard students[index].nextDecision <= now else { return }
        students[index].nextDecision = now + nextPause()
        if chance(8) {
            // A phone without a network, such as in a cellar.
            students[index].offlineUntil = now + .seconds(Int64(number(60...1_200)))
            return note("no network")
        }
        students[index].isAppOpen = chance(70)
        guard let session else { return try await idle(index) }
        if session.host == students[index].name {
            try await host(index, session)
        } else {
            try await attend(index, session)
        }
    }

    private func walkSomewhere(_ index: Int) {
        students[index].target = DayCampus.buildings[number(0...DayCampus.buildings.count - 1)]
    }

    private func idle(_ index: Int) async throws {
        switch number(1...100) {
        case ...45: try await search(index)
        case ...62: try await start(index)
        case ...72: try await postFromAfar(index)
        case ...80: try await knock(index)
        default: walkSomewhere(index)
        }
    }

    private func attend(_ index: Int, _ session: DayModel.Session) async throws {
        let name = students[index].name
        switch number(1...100) {
        case ...35: try await post(to: session, by: name)
        case ...48: try await leave(session, by: name)
        case ...60: try await joinAnother(index, leave: true)
        case ...65: try await joinAnother(index, leave: nil)
        case ...75: try await invite(to: session, by: name)
        case ...83: try await removeOwnPost(of: session, by: name)
        default: walkSomewhere(index)
        }
    }

    private func host(_ index: Int, _ session: DayModel.Session) async throws {
        let name = students[index].name
        switch number(1...100) {
        case ...25: try await post(to: session, by: name)
        case ...37: try await extend(session, by: name)
        case ...49: try await handOver(session, by: name)
        case ...57: try await leave(session, by: name)
        case ...67: try await invite(to: session, by: name)
        case ...75: try await start(index)
        default: walkSomewhere(index)
        }
    }

    // MARK: Sessions

    /// The map, and a session on it.
    private func search(_ index: Int) async throws {
        let student = students[index]
        let position = student.spot.position(accuracy: 20)
        let found = try await person(student.name).request(FindNearSessions(around: position, radius: 10_000)).sessions
        let expected = model.openSessions(of: student.classes)
        if expected.count <= StudyLimits.maxNear {
            #expect(Set(found.map(\.session.id)) == Set(expected.map(\.id)), "the map of \(student.name)")
        }
        if let chosen = found.randomElement(using: &random) { try await join(chosen.session.id, by: student.name, leave: nil) }
    }

    private func joinAnother(_ index: Int, leave: Bool?) async throws {
        let student = students[index]
        guard let other = model.openSessions(of: student.classes).map(\.id).sorted().randomElement(using: &random) else { return }
        try await join(other, by: student.name, leave: leave)
    }

    private func join(_ id: ObjectID, by name: AccountName, leave: Bool?) async throws {
        guard let session = model.sessions[id] else { return }
        let command = JoinSession(id, of: session.classID, leave: leave)
        let expected = model.refusal(ofJoining: id, by: name, leave: leave == true)
        let failure = await person(name).failure(of: command)
        #expect(failure?.field == expected, "\(name) joins: \(String(describing: failure))")
        guard failure == nil else { return note("refused: \(failure?.field ?? "")") }
        model.join(name, to: id, at: clock.now)
        note("join")
        guard chance(10) else { return }
        // The answer was lost, and the app asks again.
        let again = try await person(name).request(command)
        #expect(again.session.attendants.contains(name))
    }

    /// A session where the student is; sometimes one where the student is not, or by a position that does not count.
    private func start(_ index: Int) async throws {
        let student = students[index]
        guard student.hasArrived, let classID = student.classes.randomElement(using: &random) else { return walkSomewhere(index) }
        let isFar = chance(10)
        let isInaccurate = chance(5)
        let other = DayCampus.buildings.first { $0.distance(to: student.spot) > 500 } ?? student.spot
        let place = (isFar ? other : student.spot).place
        let draft = SessionDraft(
            topics: ["Chapter \(number(1...20))"], place: place, minutes: number(10...120),
            position: student.spot.position(accuracy: isInaccurate ? 900 : Double(number(5...60))),
            leave: model.current(of: student.name) == nil ? nil : true)
        let command = AddSession(to: classID, draft, requestKey: newKey())
        guard !isFar, !isInaccurate else {
            let failure = await person(student.name).failure(of: command)
            #expect(failure?.status == .conflict && failure?.field == "position")
            return note("not near")
        }
        let answer = try await person(student.name).request(command)
        let session = answer.session
        #expect(session.host == student.name && session.starts == clock.now)
        #expect(session.ends == session.starts + .seconds(Int64(draft.minutes) * 60))
        model.start(session, at: place.coordinate, attends: true)
        note("start")
        guard chance(10) else { return }
        let again = try await person(student.name).request(command)
        #expect(again.session.id == answer.session.id)
    }

    private func leave(_ session: DayModel.Session, by name: AccountName) async throws {
        let command = LeaveSession(session.id, of: session.classID)
        _ = try await person(name).request(command)
        model.leave(name, from: session.id, at: clock.now)
        note("leave")
        if chance(10) { _ = try await person(name).request(command) }
    }

    private func extend(_ session: DayModel.Session, by name: AccountName) async throws {
        let planned = Int((session.ends - session.starts).rawValue / 60_000)
        let minutes = min(planned + number(5...40), rules.maxMinutes)
        guard minutes > planned else { return }
        let edit = SessionEdit(topics: ["Chapter \(number(1...20))"], minutes: minutes)
        let answer = try await person(name).request(UpdateSession(session.id, of: session.classID, edit))
        let end = session.starts + .seconds(Int64(minutes) * 60)
        #expect(answer.session.ends == end)
        model.move(endOf: session.id, to: end, at: clock.now)
        note("extend")
    }

    private func handOver(_ session: DayModel.Session, by name: AccountName) async throws {
        guard let next = session.attendants.filter({ $0 != name }).randomElement(using: &random) else { return }
        let answer = try await person(name).request(UpdateSession(session.id, of: session.classID, SessionEdit(host: next)))
        #expect(answer.session.host == next)
        model.handOver(session.id, to: next)
        note("hand over")
        // Nobody else changes it from now on.
        let failure = await person(name).failure(of: UpdateSession(session.id, of: session.classID, SessionEdit(topics: ["x"])))
        #expect(failure?.status == .forbidden)
    }

    /// The host's app reports each minute while it is open.
    private func report(_ index: Int, _ session: DayModel.Session) async throws {
        let (student, now) = (students[index], clock.now)
        guard student.isAppOpen, student.lastReport + .seconds(60) <= now else { return }
        students[index].lastReport = now
        let position = student.spot.position(accuracy: chance(85) ? Double(number(5...50)) : Double(number(300...900)))
        let presence = try await person(student.name).request(ReportPosition(position, at: session.id, of: session.classID))
        let nearness = rules.nearness(of: position, to: session.place)
        let expected = model.report(nearness, of: session.id, at: now)
        #expect(presence == expected)
        note("report \(nearness)")
    }

    // MARK: Posts and invitations

    func post(to session: DayModel.Session, by name: AccountName) async throws {
        let command = AddPost("Exercise \(number(1...30))?", to: session.id, of: session.classID, requestKey: newKey())
        let post = try await person(name).request(command)
        model.post(post.id, to: session.id, by: name, at: clock.now)
        note("post")
        guard chance(10) else { return }
        let again = try await person(name).request(command)
        #expect(again.id == post.id)
    }

    private func postFromAfar(_ index: Int) async throws {
        let student = students[index]
        let open = model.openSessions(of: student.classes).sorted { $0.id < $1.id }
        guard let session = open.randomElement(using: &random) else { return }
        try await post(to: session, by: student.name)
        note("post from afar")
    }

    private func removeOwnPost(of session: DayModel.Session, by name: AccountName) async throws {
        let own = session.posts.filter { $0.value == name }.map(\.key).sorted()
        guard let post = own.randomElement(using: &random) else { return }
        _ = try await person(name).request(RemovePost(post, from: session.id, of: session.classID))
        model.remove(post, from: session.id)
        note("remove post")
    }

    private func invite(to session: DayModel.Session, by name: AccountName) async throws {
        let chosen = (model.members[session.classID] ?? []).shuffled(using: &random).prefix(3)
        let expected = model.invitable(Array(chosen), to: session.id)
        let command = InviteToSession(Array(chosen), to: session.id, of: session.classID)
        let invited = try await person(name).request(command).invited
        #expect(Set(invited) == expected)
        model.invite(expected, to: session.id)
        note("invite")
    }

    /// Something about a session that has ended, such as by an app that does not know it yet.
    private func knock(_ index: Int) async throws {
        let student = students[index]
        let recent = model.sessions.values.filter { session in
            guard let end = session.end else { return false }
            return student.classes.contains(session.classID) && clock.now < end.at + .seconds(3_600)
        }.sorted { $0.id < $1.id }
        guard let session = recent.randomElement(using: &random) else { return }
        let post = AddPost("Is anyone there?", to: session.id, of: session.classID, requestKey: newKey())
        let failure =
            chance(50)
            ? await person(student.name).failure(of: post)
            : await person(student.name).failure(of: JoinSession(session.id, of: session.classID, leave: true))
        #expect(failure?.status == .conflict && failure?.field == "ended", "\(String(describing: failure))")
        note("knock")
    }
}
