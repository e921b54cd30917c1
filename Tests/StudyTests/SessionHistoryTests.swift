import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// What is left of sessions that have ended.
@Suite("The history of study sessions over the bus", .timeLimit(.minutes(10)))
struct SessionHistoryTests {
    private static func history(
        _ person: TestPerson, _ classID: ObjectID, from: UnixMilliseconds? = nil, until: UnixMilliseconds? = nil,
        topic: String? = nil, limit: Int = 100
    ) async throws -> [PastSession] {
        var found: [PastSession] = []
        var after: String?
        repeat {
            let page = try await person.request(
                ListPastSessions(of: classID, from: from, until: until, topic: topic, limit: limit, after: after))
            #expect(page.sessions.count <= limit)
            found += page.sessions
            after = page.next
        } while after != nil
        return found
    }

    @Test("The professor sees who was at which session, for how long, and what it was about", arguments: StoreKind.ofRules)
    func attendances(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["Ann", "bob"], assistants: ["tina"])
            let (ann, bob, prof) = (study.person("ann"), study.person("bob"), study.person("prof"))
            let session = try await ann.start(in: id, topics: ["Waves", "Optics"])
            clock.pass(.seconds(90))
            let came = clock.now
            try await bob.join(session)
            clock.pass(.seconds(240))
            try await bob.leave(session)
            clock.pass(.seconds(300))
            try await bob.join(session)
            clock.pass(.seconds(100))
            try await ann.leave(session)
            let past = try await Self.history(prof, id)
            #expect(
                past == [
                    PastSession(
                        id: session.id, topics: ["Waves", "Optics"], description: nil, placeName: "Library",
                        starts: session.starts, ended: clock.now, reason: .host, sponsored: false,
                        host: PastPerson(account: "ann", number: 2),
                        attendants: [
                            PastAttendance(
                                person: PastPerson(account: "ann", number: 2), joined: session.starts, minutes: 12),
                            PastAttendance(person: PastPerson(account: "bob", number: 3), joined: came, minutes: 6),
                        ], posts: 0)
                ])
            #expect(past.first?.host.account?.description == "Ann")
            for name in ["ann", "tina"] as [AccountName] {
                let failure = await study.person(name).failure(of: ListPastSessions(of: id, limit: 10))
                #expect(outcome(of: failure) == "forbidden")
            }
        }
    }

    @Test("The history comes page by page, and is filtered by time and topic", arguments: StoreKind.ofRules)
    func pages(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann"])
            let other = try await study.addClass("CHE-1", students: ["ann"])
            let (ann, prof) = (study.person("ann"), study.person("prof"))
            var ended: [UnixMilliseconds] = []
            for topics in [["Waves"], ["Optics"], ["WAVES", "Sound"], ["Straße"], ["Heat"]] {
                let session = try await ann.start(in: id, topics: topics)
                clock.pass(.seconds(60))
                try await ann.leave(session)
                ended.append(clock.now)
            }
            try await ann.leave(ann.start(in: other))
            try await ann.start(in: id)
            for limit in [1, 2, 5, 100] {
                let all = try await Self.history(prof, id, limit: limit)
                #expect(all.map(\.ended) == Array(ended.reversed()))
            }
            let some = try await Self.history(prof, id, from: ended[1], until: ended[3], limit: 1)
            #expect(some.map(\.ended) == [ended[2], ended[1]])
            let waves = try await Self.history(prof, id, topic: "waves", limit: 2)
            #expect(waves.map(\.ended) == [ended[2], ended[0]])
            #expect(try await Self.history(prof, id, topic: "STRASSE").count == 1)
            #expect(try await Self.history(prof, id, topic: "  WAVES\u{200B}").count == 2)
            #expect(try await Self.history(prof, id, topic: "Wave").isEmpty)
            let wrong = await prof.failure(of: ListPastSessions(of: id, limit: 1, after: "x"))
            #expect(outcome(of: wrong) == "invalid after")
        }
    }

    @Test("Topics and a class's name are stored without white space around them and invisible characters")
    func tidied() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann"])
            let (ann, prof) = (study.person("ann"), study.person("prof"))
            let session = try await ann.start(in: id, topics: [" Prisms\u{200B} ", "two  words"], key: "k")
            #expect(session.topics == ["Prisms", "two words"])
            #expect(try await ann.start(in: id, topics: [" Prisms\u{200B} ", "two  words"], key: "k").id == session.id)
            #expect(try await ann.edit(session, SessionEdit(topics: ["Heat\u{2060}  "])).topics == ["Heat"])
            try await ann.leave(session)
            #expect(try await Self.history(prof, id, topic: " heat").map(\.topics) == [["Heat"]])
            #expect(try await prof.request(UpdateClass(id, ClassEdit(name: "  Physics   II "))).name == "Physics II")
            let draft = ClassDraft(name: " Optics ", identificationKey: "OPT-1")
            #expect(try await prof.request(AddClass(draft)).name == "Optics")
        }
    }

    @Test(
        "One's own history has where one was, also in classes that one has left, and nobody else",
        arguments: StoreKind.ofRules)
    func own(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let other = try await study.addClass("CHE-1", students: ["bob"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let first = try await ann.start(in: id)
            let joined = clock.now
            try await bob.join(first)
            clock.pass(.seconds(600))
            try await ann.edit(first, SessionEdit(host: "bob"))
            // Its time is over, whether or not that is written down.
            clock.pass(.seconds(3_600))
            let second = try await bob.start(in: other, topics: ["Acids"])
            clock.pass(.seconds(60))
            let session = OwnPastSession(
                id: first.id, classID: id, topics: ["Waves"], joined: joined, minutes: 60, hosted: true)
            #expect(try await bob.request(ListOwnPastSessions(limit: 10)).sessions == [session])
            try await bob.leave(second)
            try await bob.request(LeaveClass(id))
            let past = try await bob.request(ListOwnPastSessions(limit: 1))
            #expect(past.sessions.map(\.id) == [second.id] && past.sessions.map(\.minutes) == [1])
            let rest = try await bob.request(ListOwnPastSessions(limit: 1, after: past.next))
            #expect(rest.sessions == [session] && rest.next == nil)
            let anns = try await ann.request(ListOwnPastSessions(limit: 10)).sessions
            #expect(anns.map(\.hosted) == [false] && anns.map(\.id) == [first.id])
            #expect(try await study.person("prof").request(ListOwnPastSessions(limit: 10)).sessions.isEmpty)
        }
    }
}
