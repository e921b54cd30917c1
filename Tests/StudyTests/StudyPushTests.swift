import Base
import Bus
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// Pushes about sessions: to whom they go, and what they say.
@Suite("Pushes about study sessions", .timeLimit(.minutes(10)))
struct StudyPushTests {
    private static let rules = StudyRules(
        radius: 150, accuracy: 200, grace: 300, maxMinutes: 720, attendants: 100, sponsored: 5, postsPerMinute: 10, invites: 50,
        classes: 30, members: 5_000, sessions: 500)

    /// The pushes as texts, such as `session_join ann`.
    private static func told(_ pushes: [LogPush]) -> [String] {
        pushes.flatMap { push in (push.accounts ?? []).map { "\(push.kind?.description ?? "none") \($0.key)" } }.sorted()
    }

    @Test("Each is told what concerns them, and nobody what they have done themselves", arguments: StoreKind.ofRules)
    func recipients(kind: StoreKind) async throws {
        let (clock, messageLog) = (TestClock(), OutboxDouble())
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"], assistants: ["tara"])
            let (ann, ben, cleo) = (study.person("ann"), study.person("ben"), study.person("cleo"))
            try await study.with(messageLog) {
                func expect(_ what: String, _ pushes: String..., after change: () async throws -> Void) async throws {
                    let before = messageLog.taken.count
                    try await change()
                    try await eventually("pushes: \(what)") {
                        Self.told(Array(messageLog.taken[before...])) == pushes.sorted()
                    }
                }
                try await ann.request(ChooseClassPushes(id, newSessions: true))
                try await cleo.request(ChooseClassPushes(id, newSessions: true))
                var session = ObjectID()
                try await expect("a session has begun", "session_new cleo", "session_new tara", "session_new prof") {
                    session = try await ann.beginsSession(in: id)
                }
                try await expect("an invitation", "session_invite ben", "session_invite cleo") {
                    _ = try await ann.invites("ben", "cleo", to: session, of: id)
                }
                try await expect("ben has come", "session_join ann") { try await ben.comes(to: session, of: id) }
                try await expect("the first post, and nothing of another one's invitation", "session_post ann") {
                    #expect(try await ben.invites("cleo", to: session, of: id).isEmpty)
                    try await ben.posts("hello", to: session, of: id)
                }
                try await expect("the next ones are bundled", "session_join ann") {
                    try await ann.posts("welcome", to: session, of: id)
                    try await cleo.comes(to: session, of: id)
                }
                try await expect("the bundle", "session_post ben", "session_post cleo") { clock.pass(.seconds(61)) }
                try await expect("another host", "session_host ben") {
                    try await ann.request(UpdateSession(session, of: id, SessionEdit(host: "ben")))
                }
                try await expect("ten minutes", "session_ending ann", "session_ending ben", "session_ending cleo") {
                    clock.pass(.seconds(3_000))
                }
                try await expect("the end by its host", "session_ended ann", "session_ended cleo") {
                    try await ben.leaves(session, of: id)
                }
            }
        }
        #expect(messageLog.senders == ["study"] && !messageLog.hasContradiction)
        #expect(Set(messageLog.taken.map(\.idempotencyKey)).count == messageLog.taken.count)
        for push in messageLog.taken {
            let text = "\(push.idempotencyKey) \(push.fairnessKey) \(String(decoding: push.message.data, as: UTF8.self))"
            let secrets = [
                "ann", "ben", "cleo", "tara", "Waves", "Library", "Physics", "PHY-1", "hello", "welcome", "51.5", "notes",
            ]
            for word in secrets { #expect(!text.contains(word), "\(text)") }
            #expect(push.fairnessKey == "study" && push.exceptDevice == nil && push.expires > clock.now - .seconds(3_600))
        }
    }

    @Test("The staff of a class is told of new sessions until they switch that off, each alone", arguments: StoreKind.ofRules)
    func newSessions(kind: StoreKind) async throws {
        let messageLog = OutboxDouble()
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "ben"], assistants: ["tara"])
            let (ann, tara, prof) = (study.person("ann"), study.person("tara"), study.person("prof"))
            try await study.with(messageLog) {
                /// Begins a session. The invitation to it is pushed after the pushes about its beginning, if there are any.
                func expect(_ told: String...) async throws {
                    let before = messageLog.taken.count
                    let session = try await ann.beginsSession(in: id)
                    _ = try await ann.invites("ben", to: session, of: id)
                    let pushes = (told.map { "session_new \($0)" } + ["session_invite ben"]).sorted()
                    try await eventually("pushes: \(pushes)") {
                        Self.told(Array(messageLog.taken[before...])).contains("session_invite ben")
                    }
                    #expect(Self.told(Array(messageLog.taken[before...])) == pushes)
                    try await ann.leaves(session, of: id)
                }
                func choose(_ newSessions: Bool, by person: TestPerson) async throws {
                    try await person.request(ChooseClassPushes(id, newSessions: newSessions))
                }
                try await expect("tara", "prof")
                try await choose(false, by: tara)
                try await expect("prof")
                try await choose(false, by: prof)
                try await expect()
                try await choose(true, by: tara)
                try await expect("tara")
            }
        }
    }

    @Test("Each kind has a sentence in both languages, a place in the app, and an end")
    func texts() throws {
        let session = SessionDocument.stored(host: "ann", starts: 1_000, ends: 3_601_000)
        for notice in SessionNotice.allCases {
            let push = notice.message(about: session)
            try push.check()
            #expect(Set(push.texts.keys) == ["en", "ar"] && push.id == "\(session.id)" && push.tag == nil)
            let isPast = notice == .ended
            #expect(push.link == (isPast ? "#study/past" : "#study/session/\(session.classID)/\(session.id)"))
            #expect(push.urgency == ([.posted, .begun].contains(notice) ? .normal : .high))
            #expect(notice.expiry(of: session, at: 2_000) == (isPast ? 3_602_000 : 3_601_000))
        }
        #expect(Set(SessionNotice.allCases.map(\.kind)).count == SessionNotice.allCases.count)
    }

    @Test("Many are told by several pushes, each person by one; what is over is told to nobody", arguments: StoreKind.ofRules)
    func parts(kind: StoreKind) async throws {
        try await withStudyStore(kind) { store in
            let names = (0..<250).map { AccountName(stringLiteral: "student-\($0)") }
            let session = SessionDocument.stored(host: "student-7", starts: 1_000, ends: 3_601_000)
            let members = names.enumerated().map { number, name in
                EnrolmentDocument(
                    id: ObjectID(), classID: session.classID, account: name.key, name: name, role: .student, number: number + 2,
                    joined: 500, announces: number < 240 ? true : nil)
            }
            try await store.transaction { try $0.insert(all: members, into: StudyStore.members) }
            func queued(
                _ change: @escaping @Sendable (StudyChange) throws -> Void, at now: UnixMilliseconds
            ) async throws -> [LogPush] {
                try await store.transaction { try change(StudyChange($0, rules: Self.rules, now: now)) }
                let page = try await store.page(of: StudyStore.queuedPushes, limit: 100)
                try await store.transaction { try $0.delete(page.documents.map(\.document.id), from: StudyStore.queuedPushes) }
                return try page.documents.map { try $0.document.push }
            }
            let begun = try await queued({ try $0.tellBegun(session) }, at: 2_000)
            #expect(begun.compactMap(\.accounts?.count).sorted() == [39, 100, 100])
            let told = begun.flatMap { $0.accounts ?? [] }
            #expect(Set(told).count == 239 && !told.contains("student-7") && begun.allSatisfy { $0.expires == session.ends })
            let twice = try await queued({ try $0.tell(.invited, of: session, to: ["ann", "ben", "ANN"]) }, at: 2_000)
            #expect(twice.map(\.accounts) == [["ann", "ben"]])
            #expect(try await queued({ try $0.tell(.posted, of: session, to: ["ann"]) }, at: 3_601_000).isEmpty)
            #expect(try await queued({ try $0.tell(.joined, of: session, to: []) }, at: 2_000).isEmpty)
            let late = try await queued({ try $0.tell(.ended, of: session, to: ["ann"]) }, at: 3_601_000)
            #expect(late.map(\.expires) == [7_201_000])
        }
    }
}
