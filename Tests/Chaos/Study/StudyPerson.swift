import Base
import NIOHTTP1
import Schemas
import TestSupport

/// One person who studies while the hub fails. What the person asks for is noted before, and what is answered afterwards.
struct StudyPerson: Sendable {
    struct Membership: Sendable {
        let path: String
        let id: ObjectID
        /// To join it again.
        let key: String
    }

    let person: RunStudent
    let role: ClassRole
    let classes: [Membership]
    /// Whom the person invites.
    let friend: String?
    let ledger: StudyLedger

    private enum Act {
        case inside, outside, handOver, edit, end, post, invite, change, start, join, near, elsewhere, remove, moderate, rejoin
        case rest
    }

    private static let asHost: [Act] = [.inside, .inside, .inside, .outside, .handOver, .edit, .end, .post, .invite, .change]
    /// In one that its hosts neither end nor change: see ``isLong(_:)``.
    private static let asHostOfLong: [Act] = [.inside, .inside, .handOver, .post, .post, .invite, .rest, .rest, .rest, .rest]
    private static let asAttendant: [Act] = [.post, .post, .post, .invite, .end, .change, .remove, .rest, .rest, .rest]
    private static let asVisitor: [Act] = [.start, .start, .join, .join, .join, .near, .elsewhere, .remove]
    private static let ofStudents: [Act] = [.rejoin]
    private static let ofStaff: [Act] = [.moderate, .moderate]
    /// The planned durations: sessions that end by themselves in most runs, and those whose end is announced.
    private static let durations = [5, 5, 5, 15]
    /// Longer than the grace of the run: the session of a host who stays away ends.
    private static let absence = Duration.seconds(12)

    var account: String { person.account }

    /// Does one thing, by what the hub says of the person's own sessions.
    func act(_ turn: Int, _ random: inout SeededGenerator) async throws {
        guard let own: ReadOwnSessions.Reply = try await read("/user/sessions") else { return }
        see(own)
        ledger.note { $0.turns += 1 }
        let further = role.isStaff ? Self.ofStaff : Self.ofStudents
        if let current = own.current {
            let ofHosts = Self.isLong(current) ? Self.asHostOfLong : Self.asHost
            let acts = current.host?.description == account ? ofHosts : Self.asAttendant
            guard let act = (acts + (role.isStaff ? further : [])).randomElement(using: &random) else { return }
            try await carryOut(act, in: current, turn, &random)
        } else if let hosted = own.hosted.randomElement(using: &random), !Self.isLong(hosted),
            Int.random(in: 0..<4, using: &random) == 0
        {
            try await leave(hosted)
        } else if let invite = own.invites.first, Bool.random(using: &random) {
            try await join(invite.session, leaving: nil)
        } else if let act = (Self.asVisitor + further).randomElement(using: &random) {
            try await carryOut(act, turn, &random)
        }
    }

    /// Whether a session is left alone until its time is over: one of eight. The others mostly end within seconds.
    private static func isLong(_ session: StudySession) -> Bool {
        let id = "\(session.id)"
        return id.hasSuffix("0") || id.hasSuffix("8")
    }

    // MARK: In a session

    private func carryOut(_ act: Act, in current: StudySession, _ turn: Int, _ random: inout SeededGenerator) async throws {
        switch act {
        case .inside: try await report(TestClass.near, at: current)
        case .outside:
            try await report(TestClass.far, at: current)
            // Some stay away, and others mostly come back in time.
            if Bool.random(using: &random) {
                ledger.tries(.left)
                try await sleep(until: .now + Self.absence, unless: { person.isOver })
            }
        case .handOver: try await handOver(current, &random)
        case .edit: try await edit(current, turn, &random)
        case .end: try await leave(current)
        case .invite: try await invite(to: current)
        case .post: try await post(turn, to: current)
        case .change:
            guard let other = try await open(&random), other.id != current.id else { return }
            try await join(other, leaving: current)
        default: try await carryOut(act, turn, &random)
        }
    }

    private func report(_ position: Position, at session: StudySession) async throws {
        let isInside = position == TestClass.near
        let body = try JSONValue(encoding: position)
        let report = try await person.expect([200, 403, 404, 409], .POST, session.path + "/position", body)
        let presence = try report.status == 200 ? JSONCoder.decode(HostPresence.self, from: report.answer.body) : nil
        ledger.note(session.id) { record in
            // One that was repeated may have begun the grace before.
            if !isInside, presence == nil || report.isRepeated { record.hasOpenReport = true }
            if let ends = presence?.ends { record.endsByLeaving.insert(ends) }
            if presence != nil || report.isRepeated { record.mustEndBy = isInside ? nil : presence?.ends }
        }
    }

    private func handOver(_ session: StudySession, _ random: inout SeededGenerator) async throws {
        let others = session.attendants.map(\.description).filter { $0 != account }
        guard let other = others.randomElement(using: &random) else { return }
        // The next host has to be inside first.
        ledger.note(session.id) { $0.mustEndBy = nil }
        ledger.tries(.handedOver)
        let answer = try await person.expect([200, 403, 404, 409], .PUT, session.path, ["host": .string(other)])
        ledger.note(session.id) { record in
            record.handOvers[other, default: StudyRecords.Count()].add(isDone: answer.status == 200, answer)
            record.mustEndBy = nil
        }
    }

    private func edit(_ session: StudySession, _ turn: Int, _ random: inout SeededGenerator) async throws {
        let minutes = Int.random(in: 5...8, using: &random)
        ledger.note(session.id) { record in
            record.minutes.insert(minutes)
            // Of a host who is outside, the planned end may have been the nearer one.
            if record.mustEndBy != nil { record.hasOpenReport = true }
            record.mustEndBy = nil
        }
        let edit = SessionEdit(topics: ["Turn \(turn)", "Trees"], minutes: minutes)
        try await person.expect([200, 403, 404, 409], .PUT, session.path, try JSONValue(encoding: edit))
    }

    /// Ends it as its host, and leaves it otherwise. It may have been handed over by now.
    private func leave(_ session: StudySession) async throws {
        ledger.leaves(account, sessions: [session.id])
        try await person.expect([204, 404], .DELETE, session.path)
    }

    private func invite(to session: StudySession) async throws {
        guard let friend else { return }
        let answer = try await person.expect(
            [200, 403, 404, 409], .POST, session.path + "/invite", ["accounts": [.string(friend)]])
        let invited = try answer.status == 200 ? JSONCoder.decode(InviteToSession.Reply.self, from: answer.answer.body) : nil
        ledger.note(session.id) { record in
            // Once more after the friend has left the class and come back.
            let isDone = invited?.invited.isEmpty == false
            record.invites[friend, default: StudyRecords.Count()].add(isDone: isDone, answer)
        }
    }

    // MARK: In none, or without regard to it

    private func carryOut(_ act: Act, _ turn: Int, _ random: inout SeededGenerator) async throws {
        switch act {
        case .start: try await start(turn, &random)
        case .join: if let session = try await open(&random) { try await join(session, leaving: nil) }
        case .elsewhere: if let session = try await open(&random) { try await post(turn, to: session) }
        case .near: try await lookAround()
        case .remove:
            if let post = ledger.post(where: { $0.author == account }, using: &random) { try await remove(post, &random) }
        case .moderate: try await moderate(&random)
        case .rejoin: try await rejoin(&random)
        default: break
        }
    }

    private func start(_ turn: Int, _ random: inout SeededGenerator) async throws {
        guard let place = classes.randomElement(using: &random) else { return }
        let minutes = Self.durations.randomElement(using: &random) ?? 5
        let attends = !role.isStaff || Bool.random(using: &random)
        let topic = "Turn \(turn)"
        let draft = attends ? TestClass.draft(topic, minutes: minutes) : TestClass.sponsored(topic, minutes: minutes)
        let begun = Int64.nowInMilliseconds
        ledger.tries(.sessions)
        let answer = try await person.expect(
            [201, 404, 409], .POST, place.path + "/sessions", try JSONValue(encoding: draft), key: "\(account)-\(turn)")
        guard answer.status == 201 else { return }
        let started: SessionAnswer = try JSONCoder.decode(from: answer.answer.body)
        ledger.note(started.session.id) { record in
            record.starter = account
            record.attends = attends
            record.begun = begun
            record.minutes.insert(minutes)
        }
    }

    private func join(_ session: StudySession, leaving current: StudySession?) async throws {
        // Who hosts a session without being there does not come to it: nobody would be told.
        guard session.host?.description != account else { return }
        ledger.note(session.id) { _ = $0.visitors.insert(account) }
        if let current { ledger.leaves(account, sessions: [current.id]) }
        let body: JSONValue? = current == nil ? nil : ["leave": true]
        ledger.tries(.joined)
        let answer = try await person.expect([200, 404, 409], .POST, session.path, body)
        if answer.status == 200 { ledger.note(session.id) { _ = $0.joined.insert(account) } }
    }

    private func post(_ turn: Int, to session: StudySession) async throws {
        let text = "post \(turn) of \(account)"
        ledger.note { $0.posts[text] = StudyRecords.Post(session: session.id, author: account) }
        ledger.tries(.posts)
        let answer = try await person.expect(
            [201, 404, 409], .POST, session.path + "/posts", ["text": .string(text)], key: text)
        guard answer.status == 201 else { return }
        let post: SessionPost = try JSONCoder.decode(from: answer.answer.body)
        ledger.note { $0.posts[text]?.id = post.id }
    }

    private func remove(
        _ post: (text: String, id: ObjectID, session: ObjectID), _ random: inout SeededGenerator
    ) async throws {
        ledger.note { _ = $0.posts[post.text]?.removers.insert(account) }
        // It is of one of the classes: in the others there is no such session.
        var isRemoved = false
        for place in classes {
            let path = "\(place.path)/sessions/\(post.session)/posts"
            let answer =
                if Bool.random(using: &random) {
                    try await person.expect([204, 403, 404], .DELETE, path, ["post": .string("\(post.id)")])
                } else {
                    try await person.expect([204, 403, 404], .DELETE, "\(path)/\(post.id)")
                }
            isRemoved = isRemoved || answer.status == 204
        }
        if isRemoved { ledger.note { $0.posts[post.text]?.isRemoved = true } }
    }

    /// Removes a student's post, or ends a student's session.
    private func moderate(_ random: inout SeededGenerator) async throws {
        if Bool.random(using: &random) {
            let post = ledger.post(where: { $0.author.hasPrefix(StudyTraffic.studentPrefix) }, using: &random)
            if let post { try await remove(post, &random) }
        } else if let session = try await open(&random), session.hostRole == .student, !Self.isLong(session) {
            ledger.note(session.id) { _ = $0.enders.insert(account) }
            try await person.expect([204, 403, 404], .POST, session.path + "/end")
        }
    }

    /// Leaves a class, and joins it again. The person is in no session.
    private func rejoin(_ random: inout SeededGenerator) async throws {
        guard let place = classes.randomElement(using: &random) else { return }
        try await person.expect([204, 404], .DELETE, "/user\(place.path)")
        try await person.expect([201], .POST, "/user/classes", ["key": .string(place.key)])
    }
}
