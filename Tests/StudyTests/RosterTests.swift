import Base
import Bus
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Study

/// Who is in a class, and what the operator does with classes.
@Suite("Persons of classes over the bus", .timeLimit(.minutes(10)))
struct RosterTests {
    @Test("The roster comes page by page in the order of the names, with the number of each", arguments: StoreKind.ofRules)
    func pages(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["Carl", "ann", "Bob"], assistants: ["tess"])
            _ = try await study.addClass("CHE-1", students: ["ann", "zoe"])
            var members: [ClassMember] = []
            var after: String?
            repeat {
                let page = try await study.person("tess").request(ListClassMembers(of: id, limit: 2, after: after))
                #expect(page.members.count <= 2)
                members += page.members
                after = page.next
            } while after != nil
            #expect(members.map(\.account.description) == ["ann", "Bob", "Carl", "prof", "tess"])
            #expect(members.map(\.number) == [3, 4, 2, 1, 5])
            #expect(members.map(\.role) == [.student, .student, .student, .professor, .assistant])
            let wrong = await study.person("tess").failure(of: ListClassMembers(of: id, limit: 2, after: "x"))
            #expect(wrong?.status == .invalid && wrong?.field == "after")
        }
    }

    @Test("The professor makes a teaching assistant of a student, and the other way round", arguments: StoreKind.ofRules)
    func roles(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"])
            let (prof, ann) = (study.person("prof"), study.person("ann"))
            for role in [ClassRole.assistant, .assistant, .student] {
                #expect(try await prof.request(ChangeClassRole(of: "ANN", in: id, to: role)).role == role)
                let own = try await ann.request(GetClass(id))
                #expect(own.role == role && own.newSessions == (role == .assistant))
            }
            // What somebody has chosen stays if nothing changes.
            try await ann.request(ChooseClassPushes(id, newSessions: true))
            try await prof.request(ChangeClassRole(of: "ann", in: id, to: .student))
            #expect(try await ann.request(GetClass(id)).newSessions)
            let own = await prof.failure(of: ChangeClassRole(of: "prof", in: id, to: .student))
            #expect(own?.status == .conflict && own?.field == "account")
            #expect(await prof.failure(of: ChangeClassRole(of: "bob", in: id, to: .student))?.status == .notFound)
        }
    }

    @Test(
        "Who is removed finds the class no more, as often as that is asked for; the professor stays",
        arguments: StoreKind.ofRules)
    func removing(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let prof = study.person("prof")
            for _ in 0..<2 { try await prof.request(RemoveClassMember("Ann", from: id)) }
            #expect(await study.person("ann").failure(of: GetClass(id)) == .noClass(id))
            #expect(try await prof.request(GetClass(id)).members == 2)
            #expect(try await study.person("bob").request(ListClassAccounts(id)).accounts == ["prof"])
            #expect(await prof.failure(of: RemoveClassMember("prof", from: id))?.status == .conflict)
        }
    }

    @Test("Classmates are those of the same class, without oneself; two persons are classmates in any class of both")
    func classmates() async throws {
        try await RunningStudy.with { study in
            let physics = try await study.addClass(students: ["ann", "bob", "carl"])
            let chemistry = try await study.addClass("CHE-1", students: ["ann", "zoe"])
            let ann = study.person("ann")
            let first = try await ann.request(ListClassAccounts(physics, limit: 2))
            #expect(first.accounts == ["prof"])
            let next = try #require(first.next)
            let second = try await ann.request(ListClassAccounts(physics, limit: 2, after: next))
            #expect(second.accounts == ["bob", "carl"] && second.next == nil)
            // The gateway passes the cursor on, whether or not the caller may see the last person of the page.
            let cursor = try #require(Data(base64URL: next))
            #expect(!String(decoding: cursor, as: UTF8.self).contains("ann"))
            let pairs: [(AccountName, AccountName, Bool)] = [
                ("ann", "zoe", true), ("zoe", "ann", true), ("bob", "zoe", false), ("ann", "eve", false),
            ]
            for (one, other, shared) in pairs {
                #expect(try await study.person(one).request(CheckClassmate(other)).shared == shared)
            }
            try await ann.request(LeaveClass(chemistry))
            #expect(try await !ann.request(CheckClassmate("zoe")).shared)
            #expect(try await ann.request(CheckClassmate("BOB")).shared)
        }
    }

    @Test("Of two joins and a leave of one person at the same moment one consistent class remains", arguments: StoreKind.allCases)
    func races(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["bob"])
            let keys = [try await study.addKey(to: id), try await study.addKey(to: id, .assistant)]
            let (prof, ann) = (study.person("prof"), study.person("ann"))
            for _ in 0..<5 {
                try await concurrently(4) { number in
                    switch number {
                    case 0, 1: _ = try await ann.join(keys[number])
                    case 2: _ = try await ann.request(LeaveClass(id))
                    default: _ = try await prof.request(RemoveClassMember("ann", from: id))
                    }
                }
                let members = try await prof.request(ListClassMembers(of: id, limit: 10)).members
                let isThere = try await !ann.request(ListClasses()).classes.isEmpty
                #expect(members.map(\.account) == (isThere ? ["ann", "bob", "prof"] : ["bob", "prof"]))
                #expect(Set(members.map(\.number)).count == members.count)
                #expect(try await prof.request(GetClass(id)).members == members.count)
                try await ann.request(LeaveClass(id))
            }
        }
    }

    @Test("The operator sees all classes, and gives one to another professor", arguments: StoreKind.ofRules)
    func operators(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"])
            let other = try await study.addClass("CHE-1", named: "Chemistry", by: "eve").id
            let first = try await study.client.request(ListAllClasses(limit: 1))
            let second = try await study.client.request(ListAllClasses(limit: 1, after: first.next))
            #expect((first.classes + second.classes).map(\.id) == [id, other] && second.next == nil)
            #expect(first.classes.map(\.members) == [2] && second.classes.map(\.identificationKey) == ["CHE-1"])

            let given = try await study.client.request(GiveClass(id, to: "New.Prof"))
            #expect(given.professor == "new.prof" && given.members == 3)
            #expect(try await study.client.request(GiveClass(id, to: "new.prof")) == given)
            #expect(try await study.person("prof").request(GetClass(id)).role == .assistant)
            // To somebody who is in the class already.
            #expect(try await study.client.request(GiveClass(id, to: "ann")).members == 3)
            let members = try await study.person("ann").request(ListClassMembers(of: id, limit: 10)).members
            #expect(members.map(\.role) == [.professor, .assistant, .assistant])
            #expect(try await study.person("ann").request(GetClass(id)).nameDays == 365)
            // From then on the one until then can leave.
            try await study.person("new.prof").request(LeaveClass(id))
            #expect(await study.client.failure(of: GiveClass(ObjectID(), to: "ann"))?.status == .notFound)
        }
    }
}
