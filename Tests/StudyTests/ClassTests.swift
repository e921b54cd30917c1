import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// Classes, and who finds them.
@Suite("Classes over the bus", .timeLimit(.minutes(10)))
struct ClassTests {
    @Test("A professor makes a class, changes it, closes it and opens it again", arguments: StoreKind.ofRules)
    func life(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let prof = study.person("Prof.Lee")
            let draft = ClassDraft(name: "Physics", description: "Waves", identificationKey: "PHY-1")
            let made = try await prof.request(AddClass(draft))
            #expect(
                made
                    == StudyClass(
                        id: made.id, name: "Physics", description: "Waves", identificationKey: "PHY-1", professor: "prof.lee",
                        role: .professor, newSessions: true, created: clock.now, closed: nil, members: 1, sessions: 0,
                        nameDays: 365))
            #expect(made.professor?.description == "Prof.Lee")

            let edit = ClassEdit(name: "Physics I", description: "", nameDays: 30)
            let edited = try await prof.request(UpdateClass(made.id, edit))
            #expect(edited.name == "Physics I" && edited.description == nil && edited.nameDays == 30)
            #expect(edited.identificationKey == "PHY-1" && edited.created == made.created)

            let closing = clock.now
            for _ in 0..<2 {
                let closed = try await prof.request(UpdateClass(made.id, ClassEdit(closed: true)))
                #expect(closed.closed == closing)
                clock.pass(.seconds(60))
            }
            let open = try await prof.request(UpdateClass(made.id, ClassEdit(closed: false)))
            #expect(open.closed == nil)
            #expect(try await prof.request(GetClass(made.id)) == open)
            #expect(try await prof.request(ListClasses()).classes == [open])
        }
    }

    @Test("An identification key is one class's, in upper and lower case, and may be changed", arguments: StoreKind.ofRules)
    func identificationKeys(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let first = try await study.addClass("PHY-1", by: "ann")
            let second = try await study.addClass("CHE-1", by: "bob")
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            for taken in [
                await bob.failure(of: AddClass(ClassDraft(name: "X", identificationKey: "phy-1"))),
                await bob.failure(of: UpdateClass(second.id, ClassEdit(identificationKey: "Phy-1"))),
            ] {
                #expect(taken?.status == .conflict && taken?.field == "identification_key")
            }
            let own = try await ann.request(UpdateClass(first.id, ClassEdit(identificationKey: "phy-1")))
            #expect(own.identificationKey == "phy-1")
            try await ann.request(UpdateClass(first.id, ClassEdit(identificationKey: "PHY-2")))
            #expect(try await bob.request(UpdateClass(second.id, ClassEdit(identificationKey: "PHY-1"))).members == 1)
        }
    }

    @Test(
        "A repeated request makes one class, also at the same moment, and its key is the person's own",
        arguments: StoreKind.allCases)
    func repeated(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let prof = study.person("prof")
            let command = AddClass(ClassDraft(name: "Physics", identificationKey: "PHY-1"), requestKey: "k")
            let made = try await concurrently(4) { _ in try await prof.request(command).id }
            #expect(Set(made).count == 1)
            let other = AddClass(ClassDraft(name: "Chemistry", identificationKey: "CHE-1"), requestKey: "k")
            let reused = await prof.failure(of: other)
            #expect(reused?.status == .conflict && reused?.field == "request_key")
            #expect(try await study.person("other").request(other).role == .professor)
            #expect(try await prof.request(ListClasses()).classes.map(\.id) == Array(Set(made)))
        }
    }

    @Test("A person's classes come in the order of their names, with the role in each")
    func list() async throws {
        try await RunningStudy.with { study in
            let ann = study.person("ann")
            #expect(try await ann.request(ListClasses()).classes.isEmpty)
            for (key, name) in [("B", "beta"), ("A", "Alpha"), ("E", "Échecs"), ("D", "delta")] {
                let id = try await study.addClass(key, named: name).id
                if key != "D" { try await ann.join(study.addKey(to: id, key == "B" ? .assistant : .student)) }
            }
            let classes = try await ann.request(ListClasses()).classes
            #expect(classes.map(\.name) == ["Alpha", "beta", "Échecs"])
            #expect(classes.map(\.role) == [.student, .assistant, .student])
            #expect(classes.map(\.newSessions) == [false, true, false])
            #expect(classes.allSatisfy { $0.members == 2 && $0.nameDays == nil && $0.professor == "prof" })
        }
    }

    /// The failures of the commands about a class: those that all of its persons may do, one for its staff, and those for its
    /// professor.
    private static func failures(_ person: TestPerson, _ id: ObjectID, key: ObjectID) async -> [CommandFailure?] {
        [
            await person.failure(of: GetClass(id)),
            await person.failure(of: ChooseClassPushes(id, newSessions: true)),
            await person.failure(of: ListClassAccounts(id)),
            await person.failure(of: ListClassMembers(of: id, limit: 10)),
            await person.failure(of: UpdateClass(id, ClassEdit(name: "Physics"))),
            await person.failure(of: ListClassKeys(of: id)),
            await person.failure(of: AddClassKey(to: id, ClassKeyDraft(role: .student))),
            await person.failure(of: ReplaceClassKey(key, of: id)),
            await person.failure(of: ChangeClassRole(of: "bob", in: id, to: .assistant)),
            await person.failure(of: RemoveClassMember("bob", from: id)),
            await person.failure(of: RemoveClassKey(key, of: id)),
        ]
    }

    @Test("Who is in no role of a class finds none; in one, each role may do what is its own", arguments: StoreKind.ofRules)
    func roles(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob"], assistants: ["tess"])
            let key = try #require(try await study.person("prof").request(ListClassKeys(of: id)).keys.first).id
            let other = try await study.addClass("CHE-1", by: "eve").id
            let none = ObjectID()
            for (person, classID) in [("eve", id), ("prof", other), ("prof", none)] as [(AccountName, ObjectID)] {
                let noClass: [CommandFailure?] = Array(repeating: CommandFailure.noClass(classID), count: 11)
                #expect(await Self.failures(study.person(person), classID, key: key) == noClass)
            }
            func statuses(_ name: AccountName) async -> [ReplyStatus?] {
                await Self.failures(study.person(name), id, key: key).map { $0?.status }
            }
            let allowed: [ReplyStatus?] = Array(repeating: nil, count: 11)
            let forbidden: [ReplyStatus?] = Array(repeating: .forbidden, count: 8)
            #expect(await statuses("ann") == Array(allowed.prefix(3)) + forbidden)
            #expect(await statuses("tess") == Array(allowed.prefix(4)) + Array(forbidden.prefix(7)))
            #expect(await statuses("prof") == allowed)
            // A key of another class.
            let foreign = try await study.addKey(to: other, by: "eve").id
            for failure in [
                await study.person("prof").failure(of: ReplaceClassKey(foreign, of: id)),
                await study.person("prof").failure(of: RemoveClassKey(foreign, of: id)),
            ] {
                #expect(failure?.status == .notFound)
            }
            #expect(await study.client.failure(of: ListClasses())?.status == .unauthenticated)
            let nobody = CallerContext(actor: "a b")
            #expect(await study.client.failure(of: ListClasses(), context: nobody)?.status == .unauthenticated)
        }
    }

    @Test("Who leaves a class finds it no more, as often as they leave; its professor cannot", arguments: StoreKind.ofRules)
    func leaving(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tess"])
            for name in ["ann", "tess"] as [AccountName] {
                for _ in 0..<2 { try await study.person(name).request(LeaveClass(id)) }
                #expect(await study.person(name).failure(of: GetClass(id)) == .noClass(id))
                #expect(try await study.person(name).request(ListClasses()).classes.isEmpty)
            }
            let prof = study.person("prof")
            #expect(await prof.failure(of: LeaveClass(id))?.status == .conflict)
            #expect(try await prof.request(GetClass(id)).members == 1)
            try await prof.request(LeaveClass(ObjectID()))
            // A number is not given again.
            try await study.person("ann").join(study.addKey(to: id))
            let members = try await prof.request(ListClassMembers(of: id, limit: 10)).members
            #expect(members.map(\.number) == [4, 1])
        }
    }

    @Test("A person chooses for each class whether new sessions are told")
    func pushes() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass(students: ["ann"])
            for (name, before) in [("ann", false), ("prof", true)] as [(AccountName, Bool)] {
                let person = study.person(name)
                #expect(try await person.request(GetClass(id)).newSessions == before)
                for choice in [true, true, false] {
                    #expect(try await person.request(ChooseClassPushes(id, newSessions: choice)).newSessions == choice)
                }
                #expect(try await !person.request(GetClass(id)).newSessions)
            }
        }
    }

    @Test("A person is in as many classes, and a class has as many persons, as the settings say")
    func limits() async throws {
        let settings = ["MSI_STUDY_CLASSES": "2", "MSI_STUDY_MEMBERS": "2"]
        try await RunningStudy.with(settings: settings) { study in
            let first = try await study.addClass("A")
            let second = try await study.addClass("B")
            let prof = study.person("prof")
            let third = AddClass(ClassDraft(name: "C", identificationKey: "C"))
            #expect(await prof.failure(of: third)?.status == .conflict)
            #expect(await prof.failure(of: third)?.field == nil)
            let key = try await study.addKey(to: first.id, uses: 1)
            try await study.person("ann").join(study.addKey(to: first.id))
            #expect(await study.person("bob").refusal(of: key.code)?.status == .conflict)
            // Nothing was used, and whoever leaves makes room.
            try await study.person("ann").request(LeaveClass(first.id))
            try await study.person("bob").join(key)
            #expect(try await prof.request(GetClass(first.id)).members == 2)
            try await study.person("bob").join(study.addKey(to: second.id))
            let other = try await study.addClass("D", by: "eve").id
            let full = try await study.addKey(to: other, by: "eve")
            #expect(await study.person("bob").refusal(of: full.code)?.status == .conflict)
            #expect(await study.client.failure(of: GiveClass(other, to: "bob"))?.status == .conflict)
        }
    }

    @Test("Who was erased joins no class and makes none, as long as an old token may still count")
    func erased() async throws {
        let clock = TestClock()
        try await withTemporaryFolder { folder in
            try await withStudyStore(in: folder) { store in
                let erased = ErasedPersonDocument(
                    id: ErasedPersonDocument.identifier(of: "ANN"), expires: clock.now + .seconds(60))
                try await store.insert(erased, into: StudyStore.erased)
            }
            try await RunningStudy.with(in: folder, clock: clock) { study in
                let id = try await study.addClass().id
                let key = try await study.addKey(to: id)
                let ann = study.person("ann")
                #expect(await ann.refusal(of: key.code)?.status == .unauthenticated)
                #expect(
                    await ann.failure(of: AddClass(ClassDraft(name: "X", identificationKey: "X")))?.status == .unauthenticated)
                let given = await study.client.failure(of: GiveClass(id, to: "ann"))
                #expect(given?.status == .conflict && given?.field == "account")
                clock.pass(.seconds(60))
                #expect(try await ann.join(key).members == 2)
            }
        }
    }
}
