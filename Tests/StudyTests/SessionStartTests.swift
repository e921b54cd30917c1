import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// Who may start which session, and where.
@Suite("Starting study sessions over the bus", .timeLimit(.minutes(10)))
struct SessionStartTests {
    private static func start(_ person: TestPerson, _ classID: ObjectID, _ draft: SessionDraft) async -> String {
        outcome(of: await person.failure(of: AddSession(to: classID, draft)))
    }

    @Test("Who is near starts a session, and attends it", arguments: StoreKind.ofRules)
    func near(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["Ann.Lee", "bob"])
            let draft = SessionDraft(
                topics: ["Waves", "Optics"], description: "Chapter 3", place: Spot.library, minutes: 90,
                position: Spot.person(140))
            let answer = try await study.person("ann.lee").request(AddSession(to: id, draft))
            #expect(answer.now == clock.now)
            #expect(
                answer.session
                    == StudySession(
                        id: answer.session.id, classID: id, topics: ["Waves", "Optics"], description: "Chapter 3",
                        place: Spot.library, starts: clock.now, ends: clock.now + .seconds(5_400), sponsored: false,
                        host: "ann.lee", hostRole: .student, attendants: ["ann.lee"], room: 100))
            #expect(answer.session.host?.description == "Ann.Lee")
            let bob = study.person("bob")
            #expect(try await bob.sessions(of: id) == [answer.session])
            #expect(try await bob.read(answer.session) == answer.session)
            #expect(try await bob.request(GetClass(id)).sessions == 1)
            #expect(try await study.person("ann.lee").own().current == answer.session)
            #expect(try await bob.own().current == nil)
        }
    }

    @Test("A student who is away, says nothing or says it too roughly starts none")
    func away() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tina"])
            func draft(_ position: Position?, sponsored: Bool? = nil) -> SessionDraft {
                SessionDraft(topics: ["Waves"], place: Spot.library, minutes: 60, position: position, sponsored: sponsored)
            }
            for position in [nil, Spot.person(165), Spot.person(0, accuracy: 201), Spot.person(400, accuracy: 200)] {
                for name in ["ann", "tina", "prof"] as [AccountName] {
                    #expect(await Self.start(study.person(name), id, draft(position)) == "conflict position")
                }
                #expect(await Self.start(study.person("ann"), id, draft(position, sponsored: true)) == "forbidden sponsored")
                let failure = await study.person("ann").failure(of: AddSession(to: id, draft(position)))
                #expect(failure?.message.contains("51") == false)
            }
            #expect(try await study.person("ann").sessions(of: id).isEmpty)
        }
    }

    @Test("The staff sponsors from afar, several at once, and attends only if they are near or say so")
    func sponsored() async throws {
        try await RunningStudy.with(settings: ["MSI_STUDY_SPONSORED": "2"]) { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tina"])
            let tina = study.person("tina")
            func draft(_ metres: Double?, attends: Bool? = nil, leave: Bool? = nil) -> SessionDraft {
                SessionDraft(
                    topics: ["Exam"], place: Spot.library, minutes: 60, position: metres.map { Spot.person($0) },
                    sponsored: true, attends: attends, leave: leave)
            }
            let first = try await tina.request(AddSession(to: id, draft(nil))).session
            #expect(first.sponsored && first.host == "tina" && first.hostRole == .assistant && first.attendants.isEmpty)
            let second = try await tina.request(AddSession(to: id, draft(5, attends: false))).session
            #expect(second.attendants.isEmpty)
            #expect(await Self.start(tina, id, draft(9_000)) == "conflict sponsored")
            // One in which she is does not count among them, and it is one at most.
            let third = try await tina.request(AddSession(to: id, draft(5))).session
            #expect(third.attendants == ["tina"])
            #expect(await Self.start(tina, id, draft(9_000, attends: true)) == "conflict session")
            let fourth = try await tina.request(AddSession(to: id, draft(9_000, attends: true, leave: true))).session
            let own = try await tina.own()
            #expect(own.current == fourth && Set(own.hosted.map(\.id)) == [first.id, second.id])
            let open = try await tina.sessions(of: id)
            #expect(Set(open.map(\.id)) == [first.id, second.id, fourth.id])
            // Who hands one over, or comes to it, has room for another one.
            try await study.person("ann").join(first)
            try await tina.edit(first, SessionEdit(host: "ann"))
            #expect(try await tina.own().hosted.map(\.id) == [second.id])
            try await tina.join(second, leave: true)
            let later = try await tina.own()
            #expect(later.hosted == [] && later.current?.id == second.id)
            for _ in 0..<2 { try await tina.sponsor(in: id) }
            // The professor's own are counted apart.
            #expect(try await study.person("prof").sponsor(in: id).hostRole == .professor)
        }
    }

    @Test("A repeated request gets the same session, and its key makes no other one", arguments: StoreKind.ofRules)
    func repeated(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let other = try await study.addClass("CHE-1", students: ["ann"])
            let ann = study.person("ann")
            let made = try await concurrently(3) { _ in try await ann.start(in: id, key: "k") }
            #expect(Set(made).count == 1)
            for (classID, topics) in [(id, ["Optics"]), (other, ["Waves"])] {
                let position = Spot.person()
                let draft = SessionDraft(topics: topics, place: Spot.library, minutes: 60, position: position)
                let failure = await ann.failure(of: AddSession(to: classID, draft, requestKey: "k"))
                #expect(outcome(of: failure) == "conflict request_key")
            }
            // Somebody else's key is another one, and the session of a request may have changed since.
            try await study.person("bob").start(in: id, key: "k")
            try await ann.leave(made[0])
            #expect(try await ann.start(in: id, key: "k").ended == .host)
            #expect(try await ann.sessions(of: id).count == 1)
        }
    }

    @Test("Who is in a session starts another one only by leaving it, which ends it as its host")
    func leaving() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let first = try await ann.start(in: id)
            try await bob.join(first)
            for person in [ann, bob] {
                let draft = SessionDraft(topics: ["X"], place: Spot.library, minutes: 60, position: Spot.person())
                #expect(await Self.start(person, id, draft) == "conflict session")
            }
            let second = try await bob.start(in: id, leave: true)
            #expect(try await ann.read(first).attendants == ["ann"])
            let third = try await ann.start(in: id, leave: true)
            #expect(try await ann.read(first).ended == .host)
            #expect(try await ann.sessions(of: id).map(\.id) == [third.id, second.id])
        }
    }

    @Test("The duration, the class's end and the number of its sessions limit a start")
    func limits() async throws {
        let settings = ["MSI_STUDY_MAX_MINUTES": "60", "MSI_STUDY_SESSIONS": "1"]
        try await RunningStudy.with(settings: settings) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"])
            func draft(_ minutes: Int) -> SessionDraft {
                SessionDraft(topics: ["X"], place: Spot.library, minutes: minutes, position: Spot.person())
            }
            #expect(await Self.start(study.person("ann"), id, draft(61)) == "conflict minutes")
            let session = try await study.person("ann").start(in: id)
            #expect(await Self.start(study.person("bob"), id, draft(60)) == "conflict")
            try await study.person("ann").leave(session)
            let next = try await study.person("bob").start(in: id)
            try await study.person("prof").request(UpdateClass(id, ClassEdit(closed: true)))
            #expect(await Self.start(study.person("ann"), id, draft(60)) == "conflict")
            #expect(try await study.person("bob").read(next).ended == .closed)
        }
    }

    @Test("Nobody but the persons of a class finds it, whatever they ask about its sessions", arguments: StoreKind.ofRules)
    func strangers(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"])
            let session = try await study.person("ann").start(in: id)
            try await study.addClass("CHE-1", by: "chemist")
            let noClass = CommandFailure(.notFound, "no class \(id)")
            for name in ["chemist", "nobody"] as [AccountName] {
                let person = study.person(name)
                let draft = SessionDraft(topics: ["X"], place: Spot.library, minutes: 60, position: Spot.person())
                let failures = [
                    await person.failure(of: AddSession(to: id, draft)), await person.failure(of: ListSessions(of: id)),
                    await person.failure(of: GetSession(session.id, of: id)),
                    await person.failure(of: JoinSession(session.id, of: id)),
                    await person.failure(of: UpdateSession(session.id, of: id, SessionEdit())),
                    await person.failure(of: LeaveSession(session.id, of: id)),
                    await person.failure(of: EndSession(session.id, of: id)),
                    await person.failure(of: ReportPosition(Spot.person(), at: session.id, of: id)),
                    await person.failure(of: ListPastSessions(of: id, limit: 10)),
                ]
                #expect(failures == [CommandFailure?](repeating: noClass, count: failures.count))
                #expect(try await person.near().isEmpty)
            }
            // A session of another class is not found in this one.
            let other = try await study.addClass("BIO-1", students: ["ann"])
            let failure = await study.person("ann").failure(of: GetSession(session.id, of: other))
            #expect(outcome(of: failure) == "not_found")
            let nobody = await study.client.failure(of: ListSessions(of: id))
            #expect(outcome(of: nobody) == "unauthenticated")
        }
    }
}
