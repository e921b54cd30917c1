import Base
import FoundationEssentials
import Glibc
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// Study sessions from outside: with kills and an erasure.
    @Suite("Study sessions")
    struct StudySystemTests {
        @Test(
            "A session lives through kills of its service, each push comes once, the host's absence ends it to the millisecond, and an erased person leaves no text",
            .timeLimit(.minutes(10)))
        func life() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let people = try await People(at: stack)
            let (ann, ben, professor, group) = (people.ann, people.ben, people.professor, people.group)
            func got(_ person: TestStudent, _ kinds: [String]) async throws {
                try await eventually("\(person.account) gets \(kinds)") {
                    try await people.pushes(to: person, at: stack.fcm) == kinds
                }
            }
            let session = try await ann.start(TestClass.draft("Heaps", "Trees"), in: group)
            try await got(professor, ["session_new"])
            let invited: InviteToSession.Reply = try await ann.document(
                .POST, session.path + "/invite", ["accounts": [.string(ben.account), .string(professor.account), "nobody"]])
            #expect(invited.invited.map(\.description) == [ben.account])
            try await stack.killAndReplace("msi-study")
            try await stack.healthy()
            #expect(try await ben.ownSessions().current == nil)
            // The gateway waits for the people service only for a moment, which may be too short on a busy machine.
            try await eventually("the invitation") {
                try await ben.ownSessions().invites.map(\.session.id) == [session.id]
            }
            #expect(try await ben.join(session).status == 200)
            try await got(ben, ["session_invite"])
            try await got(ann, ["session_join"])
            let text = "Bring the exercise about red and black trees"
            _ = try await ben.post(text, to: session)
            try await got(ann, ["session_join", "session_post"])

            #expect(try await ann.handOver(session, to: ben).status == 200)
            try await got(ben, ["session_invite", "session_host"])
            #expect(try await ben.report(TestClass.near, at: session).status == 200)
            let left = try await ben.report(TestClass.far, at: session)
            let presence = try JSONCoder.decode(HostPresence.self, from: left.body)
            let end = try #require(presence.ends)
            try await stack.killAndReplace("msi-study")
            try await eventually("its end", within: .seconds(60)) {
                let answer = try await ann.call(.GET, group.sessions)
                return try answer.status == 200 && answer.json["sessions"]?.elements?.isEmpty == true
            }
            try await got(ann, ["session_join", "session_post", "session_ended"])
            try await got(ben, ["session_invite", "session_host", "session_ended"])
            try await got(professor, ["session_new"])
            let past = try await professor.portal.all("sessions", at: group.sessions + "/past")
            let only = try #require(past.first)
            #expect(past.count == 1, "\(past)")
            #expect(only["reason"]?.string == "left", "\(past)")
            #expect(only["ended"]?.integer == end.rawValue, "\(past)")
            #expect(only["attendants"]?.elements?.count == 2, "\(past)")
            #expect(only["posts"]?.integer == 1, "\(past)")
            try await expectErasure(of: ben, among: people, text: text, at: stack)
        }

        /// What a person has written is in no file, and the history has a number instead of the name.
        private func expectErasure(
            of ben: TestStudent, among people: People, text: String, at stack: Stack
        ) async throws {
            let (group, professor) = (people.group, people.professor)
            func files() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: stack.stateDirectory).filter { path in
                    // Sockets have no content.
                    let data = FileManager.default.contents(atPath: stack.stateDirectory + "/" + path)
                    return data?.firstRange(of: Data(text.utf8)) != nil
                }
            }
            #expect(try files().contains { $0.hasPrefix("study.sqlite") })
            // Other tests erase persons, too.
            let before = try await stack.erasedPersons
            let erased = try await ben.call(.POST, "/user/erasure", ben.proof(.erasure))
            #expect(erased.status == 200, "\(erased)")
            try await eventually("erased everywhere", within: .seconds(60)) {
                try await stack.msi(["account", "erased"]).lines.first == "\(before + 1) erased, 0 wait for services"
            }
            let left = try files()
            #expect(left.isEmpty, "\(left)")
            let past = try await professor.portal.all("sessions", at: group.sessions + "/past")
            let only = try #require(past.first)
            let persons = (only["attendants"]?.elements ?? []).compactMap { $0["person"] }
            #expect(persons.compactMap { $0["account"]?.string } == [people.ann.account], "\(past)")
            #expect(persons.count == 2, "\(past)")
            let host = try #require(only["host"])
            #expect(host["account"] == nil, "\(past)")
            #expect(host["number"]?.integer != nil, "\(past)")
            let roster = try await professor.portal.all("members", at: group.path + "/roster")
            #expect(roster.compactMap { $0["account"]?.string } == [people.ann.account, professor.account], "\(roster)")
        }
    }
}

extension SystemTests {
    /// Study sessions in a backup.
    @Suite("Study sessions and a restore")
    struct StudyRestoreTests {
        @Test("A restore wakes nothing: no open session, no invitation and no push comes back", .timeLimit(.minutes(10)))
        func restored() async throws {
            try await withTemporaryFolder { folder in
                let (state, backup) = (folder + "/state", folder + "/backup")
                let (group, session) = try await withStack(in: state, settings: SystemTests.noLimits) { stack in
                    try await stack.healthy()
                    let people = try await People(at: stack)
                    let session = try await people.ann.start(TestClass.draft(), in: people.group)
                    // The push waits in the study service.
                    try await stack.whileFrozen("msi-message-log") {
                        let invited = try await people.ann.call(
                            .POST, session.path + "/invite", ["accounts": ["study.ben"]])
                        #expect(invited.status == 200, "\(invited)")
                        let made = try await stack.msi(["backup", backup])
                        #expect(made.exitCode == 0, "\(made.lines)")
                    }
                    return (people.group, session)
                }
                let again = try await msi(["restore", backup, "--replace"], in: state)
                #expect(again.exitCode == 0, "\(again.lines)")
                try await withStack(in: state, settings: SystemTests.noLimits) { stack in
                    try await stack.healthy()
                    let ann = try await TestStudent.signIn("study.ann", at: stack.portal)
                    let ben = try await TestStudent.signIn("study.ben", at: stack.portal, on: TestDevice(.android))
                    let professor = try await TestStudent.signIn("study.prof", at: stack.portal)
                    try await ben.register(phone: Phone.register(at: stack.fcm).token)
                    let before = try await invitations(to: session.id, at: stack.fcm)
                    #expect(try await group.open(for: ann).isEmpty)
                    for person in [ann, ben] {
                        let own = try await person.ownSessions()
                        #expect(own.current == nil)
                        #expect(own.invites.isEmpty)
                        #expect(own.hosted.isEmpty)
                    }
                    try await eventually("it has ended") {
                        let past = try await professor.portal.all("sessions", at: group.sessions + "/past")
                        return past.count == 1 && past.first?["reason"]?.string == "restored"
                    }
                    // The class is as it was, and so are its keys. A later push overtakes none.
                    let next = try await ann.start(TestClass.draft(), in: group)
                    let invited = try await ann.call(.POST, next.path + "/invite", ["accounts": ["study.ben"]])
                    #expect(invited.status == 200, "\(invited)")
                    try await eventually("the new invitation") {
                        try await invitations(to: next.id, at: stack.fcm) > 0
                    }
                    #expect(try await invitations(to: session.id, at: stack.fcm) == before)
                    let carl = try await TestStudent.register("study.carl", at: stack.portal)
                    try await group.add(carl)
                }
            }
        }

        /// How many pushes phones have got about an invitation to a session.
        private func invitations(to session: ObjectID, at fcm: FCMServer) async throws -> Int {
            try await fcm.acceptedSends().count { send in
                let data = send["body"]?["message"]?["data"]
                return data?["person_id"]?.string == "\(session)" && data?["person_kind"]?.string == "session_invite"
            }
        }
    }
}

extension HarmTests.WithoutSupervisor {
    /// The gateway starts and works without the study service.
    @Suite("Without the study service")
    struct AbsentStudyTests {
        @Test(
            "The gateway starts without it: its routes are 503, and the rest is as ever. Once it is there, they work",
            .timeLimit(.minutes(10)))
        func absent() async throws {
            try await SharedServices.use { services in
                let log = try await services.start("msi-message-log")
                let relay = try await services.start("msi-fcm-relay")
                let portal = services.portal
                let ann = try await TestStudent.register("study-ann", at: portal).marked(by: portal)
                let health = try await eventually("the health of the others") {
                    let answer = try await portal.call(.GET, "/health")
                    return try answer.status == 200 ? answer.json : nil
                }
                #expect(health["status"]?.string == "degraded", "\(health)")
                #expect(health["services"]?["study"]?.string != "ok", "\(health)")
                // Each waits a second for the service.
                try await concurrently(Self.routes.count) { number in
                    let (method, path, body) = Self.routes[number]
                    let answer = try await ann.call(method, path, body)
                    #expect(answer.status == 503 && answer["Retry-After"] != nil, "\(path): \(answer)")
                }
                #expect(try await ann.call(.GET, "/user").status == 200)
                #expect(try await ann.call(.GET, "/users/nobody").status == 404)
                let export = try await msi(
                    ["account", "export", "study-ann", services.folder + "/study-ann.zip"], in: services.folder)
                #expect(export.exitCode == EX_TEMPFAIL && export.lines.count == 1, "\(export.lines)")
                #expect(export.lines.first?.hasPrefix("msi: the study service does not answer at ") == true, "\(export.lines)")
                let subject = try await portal.makeSubject("Information")
                #expect(try await portal.post(subject.message()).status == 201)

                let study = try await services.start("msi-study")
                let group = try await eventually("a class") { try? await TestClass.make(by: ann) }
                let session = try await ann.start(TestClass.draft(), in: group)
                #expect(try await group.open(for: ann).map(\.id) == [session.id])
                for process in [study, relay, log] { #expect(await process.stop() == 0) }
            }
        }

        private static let session = "/classes/6b0187feff0dafac2833f431/sessions/6b0187feff0dafac2833f432"
        /// Those of the seed's table, and some others.
        private static let routes: [(HTTPMethod, String, JSONValue?)] = [
            (.GET, "/user/classes", nil), (.POST, "/user/classes", ["key": "K7QF-2M9X"]), (.GET, "/user/sessions", nil),
            (.POST, "/class", ["name": "Algorithms", "identification_key": "CS251"]),
            (.GET, "/classes/6b0187feff0dafac2833f431/sessions", nil),
            (
                .POST, "/classes/6b0187feff0dafac2833f431/sessions",
                ["topics": ["Trees"], "place": ["latitude": 51.5, "longitude": 0.5], "minutes": 60]
            ),
            (.GET, session, nil), (.POST, session, nil), (.PUT, session, ["minutes": 60]), (.DELETE, session, nil),
            (.POST, session + "/invite", ["accounts": ["bob-roy"]]), (.GET, session + "/posts", nil),
            (.POST, session + "/posts", ["text": "Hello"]), (.DELETE, session + "/posts", ["post": "6b0187feff0dafac2833f433"]),
            (.DELETE, session + "/posts/6b0187feff0dafac2833f433", nil),
            (.POST, session + "/position", ["latitude": 51.5, "longitude": 0.5, "accuracy": 12]), (.GET, "/study", nil),
        ]
    }
}

/// Two students who are friends, and the professor of their class. Each has a phone.
private struct People {
    let professor: TestStudent
    let ann: TestStudent
    let ben: TestStudent
    let group: TestClass
    /// The registration tokens of their phones, by their accounts.
    let phones: [String: String]

    init(at stack: Stack) async throws {
        professor = try await TestStudent.professor("study.prof", at: stack.portal, on: TestDevice(.android))
        ann = try await TestStudent.register("study.ann", at: stack.portal, on: TestDevice(.android))
        ben = try await TestStudent.register("study.ben", at: stack.portal, on: TestDevice(.android))
        group = try await TestClass.make(by: professor)
        try await group.add(ann, ben)
        try await ann.befriend(ben)
        var phones: [String: String] = [:]
        for person in [professor, ann, ben] {
            let phone = try await Phone.register(at: stack.fcm)
            try await person.register(phone: phone.token)
            phones[person.account] = phone.token
        }
        self.phones = phones
    }

    /// The kinds of the pushes about sessions that a person's phone has got, in order.
    func pushes(to person: TestStudent, at fcm: FCMServer) async throws -> [String] {
        try await fcm.acceptedSends().compactMap { send in
            guard let message = send["body"]?["message"], let kind = message["data"]?["person_kind"]?.string,
                kind.hasPrefix("session_"), message["token"]?.string == phones[person.account]
            else { return nil }
            return kind
        }
    }
}
