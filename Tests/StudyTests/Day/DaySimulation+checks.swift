import Base
import Schemas
import TestSupport
import Testing

/// What the staff of the classes does on a simulated day.
extension DaySimulation {
    /// A teaching assistant moderates, or sponsors a session from afar.
    func supervise(_ group: Group) async throws {
        let open = model.openSessions(of: [group.id]).sorted { $0.id < $1.id }
        let ofStudents = open.filter { $0.host != group.assistant }
        switch number(1...100) {
        case ...40: try await sponsor(in: group)
        case ...55:
            guard let session = ofStudents.randomElement(using: &random) else { return }
            _ = try await person(group.assistant).request(EndSession(session.id, of: group.id))
            model.end(session.id, .staff, at: clock.now, by: group.assistant)
            note("end by staff")
        case ...80:
            guard let session = open.randomElement(using: &random),
                let post = session.posts.keys.sorted().randomElement(using: &random)
            else { return }
            _ = try await person(group.assistant).request(RemovePost(post, from: session.id, of: group.id))
            model.remove(post, from: session.id)
            note("remove post by staff")
        default:
            guard let session = open.randomElement(using: &random) else { return }
            try await post(to: session, by: group.assistant)
        }
    }

    private func sponsor(in group: Group) async throws {
        let building = DayCampus.buildings[number(0...DayCampus.buildings.count - 1)]
        let draft = SessionDraft(
            topics: ["Revision"], place: building.place, minutes: number(20...90), sponsored: true, attends: false)
        let command = AddSession(to: group.id, draft, requestKey: newKey())
        guard model.hosted(by: group.assistant).count < rules.sponsored else {
            let failure = await person(group.assistant).failure(of: command)
            #expect(failure?.status == .conflict && failure?.field == "sponsored")
            return note("too many sponsored")
        }
        let answer = try await person(group.assistant).request(command)
        model.start(answer.session, at: building.place.coordinate, attends: false)
        note("sponsor")
    }
}

/// What is compared with the model.
extension DaySimulation {
    /// Everybody is where the model says, and each class shows the sessions of the model.
    func checkWhereabouts() async throws {
        for student in students {
            let own = try await person(student.name).request(ReadOwnSessions())
            #expect(own.current?.id == model.places[student.name], "\(student.name)")
        }
        for group in groups {
            let shown = try await person(group.professor).request(ListSessions(of: group.id)).sessions
            let expected = model.openSessions(of: [group.id])
            #expect(Set(shown.map(\.id)) == Set(expected.map(\.id)), "the sessions of \(group.id)")
            for session in shown {
                guard let known = model.sessions[session.id] else { continue }
                #expect(session.host == known.host && session.attendants == known.attendants && session.ends == known.ends)
            }
        }
        note("check")
    }

    /// Nobody does anything more, and all sessions end at their time.
    func finish() async throws {
        while !model.openIDs.isEmpty { try await pass(DayPlan.step) }
        try await checkWhereabouts()
    }

    /// The professors see each session with its end, and who was there for how long; the students see their own.
    func checkHistory() async throws {
        for group in groups {
            let past = try await history(of: group)
            let expected = model.sessions.values.filter { $0.classID == group.id }
            #expect(Set(past.map(\.id)) == Set(expected.map(\.id)) && past.count == expected.count)
            for session in past {
                guard let known = model.sessions[session.id], let end = known.end else { continue }
                #expect(session.reason == end.reason && session.ended == end.at, "\(session.id)")
                #expect(session.host.account == known.host && session.posts == known.posts.count)
                var minutes: [AccountName: Int] = [:]
                for attendance in session.attendants {
                    if let account = attendance.person.account { minutes[account] = attendance.minutes }
                }
                let expectedMinutes = known.stays.keys.map { ($0, model.minutes(of: $0, at: known)) }
                #expect(minutes == Dictionary(uniqueKeysWithValues: expectedMinutes))
            }
        }
        for student in students.prefix(20) {
            let own = try await ownHistory(of: student.name)
            let expected = model.sessions.values.filter { $0.stays[student.name] != nil }
            #expect(Set(own.map(\.id)) == Set(expected.map(\.id)) && own.count == expected.count, "\(student.name)")
        }
    }

    private func history(of group: Group) async throws -> [PastSession] {
        var past: [PastSession] = []
        var after: String?
        repeat {
            let command = ListPastSessions(of: group.id, limit: 50, after: after)
            let page = try await person(group.professor).request(command)
            past += page.sessions
            after = page.next
        } while after != nil
        return past
    }

    private func ownHistory(of name: AccountName) async throws -> [OwnPastSession] {
        var past: [OwnPastSession] = []
        var after: String?
        repeat {
            let page = try await person(name).request(ListOwnPastSessions(limit: 50, after: after))
            past += page.sessions
            after = page.next
        } while after != nil
        return past
    }

    /// The professors see which posts are left, and which were removed.
    func checkPosts() async throws {
        let sessions = model.sessions.values.filter { !$0.posts.isEmpty }.sorted { $0.id < $1.id }.prefix(50)
        for session in sessions {
            guard let group = groups.first(where: { $0.id == session.classID }) else { continue }
            var left: Set<ObjectID> = []
            var after: String?
            repeat {
                let command = ListPosts(to: session.id, of: group.id, limit: 50, after: after)
                let page = try await person(group.professor).request(command)
                left.formUnion(page.posts.filter { $0.removed == nil }.map(\.id))
                after = page.next
            } while after != nil
            #expect(left == Set(session.posts.keys))
        }
    }
}
