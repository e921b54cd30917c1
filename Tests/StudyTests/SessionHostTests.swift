import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// What the host of a session does with it, and the class's staff.
@Suite("Hosting study sessions over the bus", .timeLimit(.minutes(10)))
struct SessionHostTests {
    @Test("The host changes what the session says, its end and its place, and nobody else does", arguments: StoreKind.ofRules)
    func editing(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let session = try await ann.start(in: id)
            try await bob.join(session)
            clock.pass(.seconds(600))
            let edited = try await ann.edit(
                session, SessionEdit(topics: ["Optics"], description: "Bring paper", minutes: 30))
            #expect(edited.topics == ["Optics"] && edited.description == "Bring paper")
            #expect(edited.ends == session.starts + .seconds(1_800) && edited.place == session.place)
            #expect(try await bob.read(session) == edited)
            func edit(_ edit: SessionEdit, by person: TestPerson) async -> String {
                outcome(of: await person.failure(of: UpdateSession(session.id, of: id, edit)))
            }
            for person in [bob, study.person("prof")] {
                #expect(await edit(SessionEdit(topics: ["X"]), by: person) == "forbidden")
            }
            #expect(await edit(SessionEdit(minutes: 10), by: ann) == "conflict minutes")
            #expect(await edit(SessionEdit(minutes: 721), by: ann) == "conflict minutes")
            let hall = Spot.north(5_000)
            for position in [nil, Spot.person(), Spot.person(5_000, accuracy: 300)] {
                #expect(await edit(SessionEdit(place: hall, position: position), by: ann) == "conflict position")
            }
            let moved = try await ann.edit(session, SessionEdit(place: hall, position: Spot.person(5_010)))
            #expect(moved.place == Place(hall.coordinate))
            #expect(try await ann.report(5_000, to: session) == HostPresence(.inside))
            let cleared = try await ann.edit(session, SessionEdit(description: ""))
            #expect(cleared.description == nil)
        }
    }

    @Test("A session of the staff moves without a position there", arguments: StoreKind.ofRules)
    func movingSponsored(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tina"])
            let tina = study.person("tina")
            let session = try await tina.sponsor(in: id)
            let hall = Spot.north(5_000)
            #expect(try await tina.edit(session, SessionEdit(place: hall)).place == Place(hall.coordinate))
            // A student who hosts it by now has to be there.
            let ann = study.person("ann")
            try await ann.join(session)
            try await tina.edit(session, SessionEdit(host: "ann"))
            let failure = await ann.failure(of: UpdateSession(session.id, of: id, SessionEdit(place: Spot.library)))
            #expect(outcome(of: failure) == "conflict position")
        }
    }

    @Test("A session is handed over to who is there", arguments: StoreKind.ofRules)
    func handOver(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "Bob", "eve"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let session = try await ann.start(in: id)
            try await bob.join(session)
            for name in ["eve", "nobody"] as [AccountName] {
                let failure = await ann.failure(of: UpdateSession(session.id, of: id, SessionEdit(host: name)))
                #expect(outcome(of: failure) == "conflict host")
            }
            let handed = try await ann.edit(session, SessionEdit(description: "By Bob", host: "bob"))
            #expect(handed.host?.description == "Bob" && handed.description == "By Bob")
            #expect(handed.attendants == ["ann", "bob"])
            let failure = await ann.failure(of: UpdateSession(session.id, of: id, SessionEdit(host: "ann")))
            #expect(outcome(of: failure) == "forbidden")
            #expect(outcome(of: await ann.failure(of: ReportPosition(Spot.person(), at: session.id, of: id))) == "forbidden")
            try await ann.leave(session)
            #expect(try await bob.read(session).attendants == ["bob"])
            try await bob.leave(session)
            #expect(try await bob.read(session).ended == .host)
        }
    }

    @Test("A person changes sessions at most thirty times a minute, so that nobody is told without end")
    func limit() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tina"])
            let (ann, tina) = (study.person("ann"), study.person("tina"))
            let session = try await ann.start(in: id)
            let sponsored = try await tina.sponsor(in: id)
            for number in 0..<StudyLimits.changesPerMinute {
                try await ann.edit(session, SessionEdit(minutes: number.isMultiple(of: 2) ? 90 : 45))
            }
            let failure = await ann.failure(of: UpdateSession(session.id, of: id, SessionEdit(minutes: 90)))
            #expect(failure?.status == .overloaded && failure?.retryAfter == .seconds(60))
            try await tina.edit(sponsored, SessionEdit(minutes: 90))
            clock.pass(.seconds(60))
            try await ann.edit(session, SessionEdit(minutes: 90))
        }
    }

    @Test("The session ends some time after its host was seen outside, having been inside", arguments: StoreKind.ofRules)
    func area(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, settings: ["MSI_STUDY_GRACE": "60"], clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob"], assistants: ["tina"])
            let (ann, bob, tina) = (study.person("ann"), study.person("bob"), study.person("tina"))
            let session = try await ann.start(in: id)
            let sponsored = try await tina.sponsor(in: id)
            let ends = clock.now + .seconds(60)
            #expect(try await ann.report(900, to: session) == HostPresence(.outside, ends: ends))
            #expect(try await tina.report(900, to: sponsored) == HostPresence(.never))
            clock.pass(.seconds(30))
            #expect(try await ann.report(900, accuracy: 500, to: session).inaccurate == true)
            #expect(try await ann.report(10, to: session) == HostPresence(.inside))
            #expect(try await tina.report(10, to: sponsored) == HostPresence(.inside))
            clock.pass(.seconds(60))
            #expect(try await bob.sessions(of: id).count == 2)
            let left = clock.now
            for (person, session) in [(ann, session), (tina, sponsored)] { try await person.report(900, to: session) }
            clock.pass(.seconds(600))
            // Whether or not it is written down.
            #expect(try await bob.sessions(of: id).isEmpty)
            #expect(try await bob.near().isEmpty)
            let answer = try await ann.read(session)
            #expect(answer.ended == .left && answer.ends == left + .seconds(60))
            let late = await ann.failure(of: ReportPosition(Spot.person(), at: session.id, of: id))
            #expect(outcome(of: late) == "conflict ended")
        }
    }

    @Test("The staff ends sessions of those below them, and the audit log has it", arguments: StoreKind.ofRules)
    func staff(kind: StoreKind) async throws {
        let (sessions, entries) = try await RunningStudy.recorded(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob"], assistants: ["tina", "tom"])
            let (ann, tina, prof) = (study.person("ann"), study.person("tina"), study.person("prof"))
            let first = try await ann.start(in: id)
            let second = try await tina.start(in: id)
            let third = try await prof.sponsor(in: id)
            func end(_ session: StudySession, by name: AccountName) async -> String {
                outcome(of: await study.person(name).failure(of: EndSession(session.id, of: id)))
            }
            #expect(await end(first, by: "bob") == "forbidden")
            #expect(await end(second, by: "tom") == "forbidden")
            #expect(await end(third, by: "tina") == "forbidden")
            for _ in 0..<2 { try await study.person("tom").end(first) }
            for _ in 0..<2 { try await prof.end(second) }
            // One's own, as by leaving it.
            try await prof.end(third)
            #expect(try await ann.read(first).ended == .staff)
            #expect(try await tina.read(second).ended == .staff)
            #expect(try await prof.read(third).ended == .host)
            return [first, second, third]
        }
        let ends = entries.filter { $0.object.kind == "study_session" }
        #expect(ends.map(\.action) == ["study_session.end", "study_session.end"])
        #expect(ends.map(\.object.id) == sessions.prefix(2).map { "\($0.id)" })
        #expect(ends.map(\.actor) == ["tom", "prof"])
        #expect(ends.map { $0.before?["host"]?.string } == ["ann", "tina"])
        #expect(ends.map { $0.before?["host_role"]?.string } == ["student", "ta"])
        #expect(ends.allSatisfy { $0.after == nil })
    }

    @Test("Whose session it is counts by the host's role now")
    func rolesThatChange() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tina"])
            let session = try await study.person("ann").start(in: id)
            try await study.person("prof").request(ChangeClassRole(of: "ann", in: id, to: .assistant))
            let failure = await study.person("tina").failure(of: EndSession(session.id, of: id))
            #expect(outcome(of: failure) == "forbidden")
        }
    }
}
