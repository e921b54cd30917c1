import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// Who is at which session, and who finds one that has ended.
@Suite("Joining and leaving study sessions over the bus", .timeLimit(.minutes(10)))
struct SessionJoinTests {
    @Test("Persons join and leave a session, each as often as they like", arguments: StoreKind.ofRules)
    func comingAndGoing(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob"], assistants: ["tina"])
            let (ann, bob, tina) = (study.person("ann"), study.person("bob"), study.person("tina"))
            let session = try await ann.start(in: id)
            for _ in 0..<2 { #expect(try await bob.join(session).attendants == ["ann", "bob"]) }
            #expect(try await tina.join(session).attendants == ["ann", "bob", "tina"])
            #expect(try await bob.own().current?.id == session.id)
            for _ in 0..<2 { try await bob.leave(session) }
            #expect(try await ann.read(session).attendants == ["ann", "tina"])
            #expect(try await bob.own().current == nil)
            #expect(try await bob.join(session).attendants == ["ann", "tina", "bob"])
            // Its host ends it for all.
            for _ in 0..<2 { try await ann.leave(session) }
            for person in [ann, bob, tina] {
                #expect(try await person.read(session).ended == .host)
                #expect(try await person.own().current == nil)
                #expect(try await person.sessions(of: id).isEmpty)
                let again = await person.failure(of: JoinSession(session.id, of: id))
                #expect(outcome(of: again) == "conflict ended")
            }
        }
    }

    @Test("Who joins a second session leaves the first one, but only if they want to", arguments: StoreKind.ofRules)
    func second(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"])
            let (ann, bob, eve) = (study.person("ann"), study.person("bob"), study.person("eve"))
            let (first, second) = (try await ann.start(in: id), try await bob.start(in: id))
            try await eve.join(first)
            for person in [ann, eve] {
                let failure = await person.failure(of: JoinSession(second.id, of: id))
                #expect(outcome(of: failure) == "conflict session")
            }
            #expect(try await eve.join(second, leave: true).attendants == ["bob", "eve"])
            #expect(try await ann.read(first).attendants == ["ann"])
            // The host of the first one ends it so.
            try await ann.join(second, leave: true)
            #expect(try await ann.read(first).ended == .host)
            #expect(try await bob.sessions(of: id).map(\.attendants) == [["bob", "eve", "ann"]])
        }
    }

    @Test("A refused join changes nothing: not even the session that would have been left", arguments: StoreKind.ofRules)
    func room(kind: StoreKind) async throws {
        try await RunningStudy.with(kind, settings: ["MSI_STUDY_ATTENDANTS": "2"]) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"])
            let (ann, bob, eve) = (study.person("ann"), study.person("bob"), study.person("eve"))
            let (full, own) = (try await ann.start(in: id), try await eve.start(in: id))
            #expect(try await bob.join(full).room == 2)
            let failure = await eve.failure(of: JoinSession(full.id, of: id, leave: true))
            #expect(outcome(of: failure) == "conflict attendants")
            #expect(try await eve.own().current == own)
            try await bob.leave(full)
            try await eve.join(full, leave: true)
            #expect(try await eve.read(own).ended == .host)
        }
    }

    @Test("Who leaves the class, or is removed, is in no session of it, and those that they host end")
    func leavingTheClass() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann", "bob"], assistants: ["tina"])
            let (ann, bob, tina) = (study.person("ann"), study.person("bob"), study.person("tina"))
            let session = try await ann.start(in: id)
            let sponsored = try await tina.sponsor(in: id)
            try await bob.join(session)
            try await bob.request(LeaveClass(id))
            #expect(try await ann.read(session).attendants == ["ann"])
            let own = try await bob.own()
            #expect(own.current == nil)
            try await study.person("prof").request(RemoveClassMember("tina", from: id))
            #expect(try await study.person("prof").read(sponsored).ended == .closed)
            try await ann.request(LeaveClass(id))
            #expect(try await study.person("prof").read(session).ended == .closed)
            #expect(try await study.person("prof").sessions(of: id).isEmpty)
        }
    }

    @Test("For a day the class is told that a session has ended; after that only those who were there find it")
    func afterTheEnd() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"], assistants: ["tina"])
            let (ann, bob, eve) = (study.person("ann"), study.person("bob"), study.person("eve"))
            let session = try await ann.start(in: id)
            try await bob.join(session)
            try await bob.leave(session)
            clock.pass(.seconds(3_600))
            func joining(_ person: TestPerson) async -> String {
                outcome(of: await person.failure(of: JoinSession(session.id, of: id)))
            }
            // Before and after the service has written it down.
            for _ in 0..<2 {
                #expect(await joining(eve) == "conflict ended")
                #expect(await joining(ann) == "conflict ended")
                #expect(outcome(of: await eve.failure(of: GetSession(session.id, of: id))) == "not_found")
                let answer = try await bob.read(session)
                #expect(answer.ended == .time && answer.ends == session.ends && answer.attendants.isEmpty)
                try await eve.leave(session)
                try await eventually("the end is written down") {
                    try await study.person("prof").request(ListPastSessions(of: id, limit: 1)).sessions.count == 1
                }
            }
            clock.pass(StudyLimits.endedTime)
            #expect(await joining(eve) == "conflict ended")
            clock.pass(1)
            for person in [eve, study.person("tina")] {
                #expect(await joining(person) == "not_found")
                #expect(outcome(of: await person.failure(of: LeaveSession(session.id, of: id))) == "not_found")
                #expect(outcome(of: await person.failure(of: EndSession(session.id, of: id))) == "not_found")
            }
            for person in [ann, bob, study.person("prof")] {
                #expect(await joining(person) == "conflict ended")
                #expect(try await person.read(session).ended == .time)
            }
        }
    }

    @Test(
        "Once a session has ended, those who were there see nobody else in it, and the professor everybody, whoever has left the class",
        arguments: StoreKind.ofRules)
    func past(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"], assistants: ["tina"])
            let (ann, bob, prof) = (study.person("ann"), study.person("bob"), study.person("prof"))
            let session = try await ann.start(in: id, key: "k")
            for name in ["bob", "eve", "tina"] as [AccountName] { try await study.person(name).join(session) }
            try await study.person("eve").leave(session)
            #expect(try await bob.read(session).attendants == ["ann", "bob", "tina"])
            clock.pass(.seconds(3_600))
            func seen(by name: AccountName) async throws -> [AccountName] {
                let answer = try await study.person(name).read(session)
                let seesHost = name == "ann" || name == "prof"
                #expect(answer.ended == .time && answer.host == (seesHost ? "ann" : nil), "\(name)")
                return answer.attendants
            }
            // Before and after the service has written it down.
            for _ in 0..<2 {
                for name in ["ann", "bob", "tina"] as [AccountName] { #expect(try await seen(by: name) == [name]) }
                #expect(try await seen(by: "eve") == [])
                #expect(try await seen(by: "prof") == ["ann", "bob", "tina"])
                try await eventually("the end is written down") {
                    try await prof.request(ListPastSessions(of: id, limit: 1)).sessions.count == 1
                }
            }
            // Nor by the request that has started it.
            let again = try await ann.start(in: id, key: "k")
            #expect(again.id == session.id && again.host == "ann" && again.attendants == ["ann"])
            try await ann.request(LeaveClass(id))
            #expect(try await seen(by: "bob") == ["bob"])
            #expect(try await seen(by: "prof") == ["ann", "bob", "tina"])
            #expect(outcome(of: await ann.failure(of: GetSession(session.id, of: id))) == "not_found")
        }
    }

    @Test("A person joins at most twenty sessions a minute")
    func limit() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let session = try await ann.start(in: id)
            for _ in 0..<StudyLimits.joinsPerMinute { try await bob.join(session) }
            let failure = try #require(await bob.failure(of: JoinSession(session.id, of: id)))
            #expect(failure.status == .overloaded && failure.retryAfter == .seconds(60))
            try await ann.join(session)
            clock.pass(.seconds(60))
            try await bob.join(session)
        }
    }
}
