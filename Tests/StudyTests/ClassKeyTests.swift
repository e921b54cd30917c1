import Base
import Bus
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Study

/// The keys with which people join classes.
@Suite("Keys of classes over the bus", .timeLimit(.minutes(10)))
struct ClassKeyTests {
    @Test("A key makes students or teaching assistants, and the professor sees it at any time", arguments: StoreKind.ofRules)
    func life(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass().id
            let prof = study.person("prof")
            let students = try await study.addKey(to: id)
            clock.pass(.seconds(1))
            let assistants = try await study.addKey(to: id, .assistant, uses: 3, expires: clock.now + .seconds(60))
            for key in [students, assistants] {
                #expect(key.code.text.wholeMatch(of: /[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}/) != nil)
            }
            #expect(try await prof.request(ListClassKeys(of: id)).keys == [assistants, students])

            // As people type it.
            let typed = Secret(" " + students.code.text.lowercased().replacing("-", with: " "))
            let joined = try await study.person("ann").request(JoinClass(key: typed, address: "192.0.2.1"))
            #expect(joined.id == id && joined.role == .student && joined.members == 2 && !joined.newSessions)
            let assistant = try await study.person("tess").join(assistants)
            #expect(assistant.role == .assistant && assistant.members == 3 && assistant.newSessions)
            // Repeated, as after a lost answer: nothing changes, and nothing is used.
            #expect(try await study.person("ann").join(students) == study.person("ann").request(GetClass(id)))
            // Nor does a student's key take away from an assistant or the professor.
            #expect(try await study.person("tess").join(students).role == .assistant)
            #expect(try await prof.join(assistants).role == .professor)
            #expect(try await prof.request(ListClassKeys(of: id)).keys.map(\.used) == [1, 1])
            // An assistant's key does make an assistant of a student.
            let promoted = try await study.person("ann").join(assistants)
            #expect(promoted.role == .assistant && promoted.newSessions && promoted.members == 3)
            #expect(try await prof.request(ListClassKeys(of: id)).keys.map(\.used) == [2, 1])

            clock.pass(.seconds(60))
            #expect(try await prof.request(ListClassKeys(of: id)).keys.map(\.id) == [students.id])
            #expect(await study.person("bob").refusal(of: assistants.code) == .wrongClassKey)
        }
    }

    @Test("Keys that are unknown, used up, replaced, revoked or of a closed class look the same", arguments: StoreKind.ofRules)
    func refused(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass().id
            let (prof, ann) = (study.person("prof"), study.person("ann"))
            for text in ["AAAA-AAAA", "----", "ﷺ"] {
                #expect(await ann.refusal(of: Secret(text)) == .wrongClassKey)
            }
            let once = try await study.addKey(to: id, uses: 1)
            try await study.person("bob").join(once)
            #expect(await ann.refusal(of: once.code) == .wrongClassKey)
            // Who has used it may repeat the request.
            #expect(try await study.person("bob").join(once).members == 2)

            let replaced = try await prof.request(ReplaceClassKey(once.id, of: id))
            #expect(replaced.id == once.id && replaced.code != once.code && replaced.uses == 1 && replaced.used == 0)
            #expect(await ann.refusal(of: once.code) == .wrongClassKey)
            try await prof.request(UpdateClass(id, ClassEdit(closed: true)))
            #expect(await ann.refusal(of: replaced.code) == .wrongClassKey)
            try await prof.request(UpdateClass(id, ClassEdit(closed: false)))
            try await ann.join(replaced)

            let revoked = try await study.addKey(to: id)
            try await prof.request(RemoveClassKey(revoked.id, of: id))
            #expect(await prof.failure(of: RemoveClassKey(revoked.id, of: id))?.status == .notFound)
            #expect(await study.person("eve").refusal(of: revoked.code) == .wrongClassKey)
            let members = try await prof.request(ListClassMembers(of: id, limit: 10)).members
            #expect(members.map(\.account) == ["ann", "bob", "prof"])
        }
    }

    @Test("A repeated request makes one key; a class has at most twenty, and a key ends in the future")
    func adding() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass("A").id
            let other = try await study.addClass("B").id
            let prof = study.person("prof")
            let command = AddClassKey(to: id, ClassKeyDraft(role: .student, uses: 5), requestKey: "k")
            let key = try await prof.request(command)
            #expect(try await prof.request(command) == key)
            for reused in [
                AddClassKey(to: id, ClassKeyDraft(role: .assistant, uses: 5), requestKey: "k"),
                AddClassKey(to: id, ClassKeyDraft(role: .student), requestKey: "k"),
                AddClassKey(to: other, ClassKeyDraft(role: .student, uses: 5), requestKey: "k"),
            ] {
                #expect(await prof.failure(of: reused)?.field == "request_key")
            }
            let past = AddClassKey(to: id, ClassKeyDraft(role: .student, expires: UnixMilliseconds.now - .seconds(1)))
            let failure = await prof.failure(of: past)
            #expect(failure?.status == .invalid && failure?.field == "expires")
            for _ in 1..<StudyLimits.maxKeys { _ = try await study.addKey(to: id) }
            let further = AddClassKey(to: id, ClassKeyDraft(role: .student))
            #expect(await prof.failure(of: further)?.status == .conflict)
            try await prof.request(RemoveClassKey(key.id, of: id))
            try await prof.request(further)
            #expect(try await prof.request(ListClassKeys(of: id)).keys.count == StudyLimits.maxKeys)
        }
    }

    @Test("Of many who join at the same moment each gets another number, and all count", arguments: StoreKind.allCases)
    func hall(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass().id
            let keys = [try await study.addKey(to: id), try await study.addKey(to: id)]
            let students = (0..<12).map { study.person(AccountName(stringLiteral: "student\($0)")) }
            // Each of them twice, as if the first answer had not come.
            try await concurrently(24) { number in
                try await students[number / 2].join(keys[number % 4 / 2])
            }
            let members = try await study.person("prof").request(ListClassMembers(of: id, limit: 50)).members
            #expect(Set(members.map(\.account)).count == 13 && members.count == 13)
            #expect(Set(members.map(\.number)) == Set(1...13))
            #expect(try await study.person("prof").request(GetClass(id)).members == 13)
            let used = try await study.person("prof").request(ListClassKeys(of: id)).keys.map(\.used)
            #expect(used == [6, 6])
        }
    }

    @Test("Of two persons who use the last use of a key at the same moment, one is refused", arguments: StoreKind.allCases)
    func lastUse(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass().id
            let key = try await study.addKey(to: id, uses: 1)
            async let one = study.person("ann").refusal(of: key.code)
            async let other = study.person("bob").refusal(of: key.code)
            let failures = await [one, other].compactMap { $0 }
            #expect(failures == [.wrongClassKey])
            #expect(try await study.person("prof").request(GetClass(id)).members == 2)
        }
    }

    @Test("After ten wrong keys a person has to wait, whatever the key; right ones do not count, and others need not wait")
    func limit() async throws {
        try await RunningStudy.with { study in
            let id = try await study.addClass().id
            let key = try await study.addKey(to: id)
            let ann = study.person("ann")
            for number in 0..<StudyLimits.wrongKeysPerAccount {
                #expect(await ann.refusal(of: Secret("AAAA-AAAA")) == .wrongClassKey)
                if number < 5 {
                    try await ann.join(key)
                    try await ann.request(LeaveClass(id))
                }
            }
            for code in [Secret("AAAA-AAAA"), key.code] {
                let failure = try #require(await ann.refusal(of: code, address: "2001:db8::1"))
                #expect(failure.status == .overloaded)
                #expect(failure.retryAfter.map { $0 > 0 && $0 <= 600_000 } == true)
            }
            #expect(try await study.person("bob").join(key).members == 2)
        }
    }

    @Test("Wrong keys of an address count over all accounts, with its network; after ten minutes all are forgotten")
    func addresses() {
        var wrong = WrongKeys(maxPerAccount: 2, maxPerAddress: 3)
        let now = ContinuousClock.now
        let hall = IPAddress("192.0.2.1")
        for account in ["a", "b", "c"] {
            #expect(wrong.begin(account, hall, now: now) == nil)
            wrong.wasWrong(hall, now: now)
        }
        #expect(wrong.begin("d", hall, now: now + .seconds(10)) == .seconds(590))
        #expect(wrong.begin("d", nil, now: now) == nil)
        #expect(wrong.begin("d", IPAddress("192.0.2.2"), now: now) == nil)
        // An attempt counts for the account until it was right.
        #expect(wrong.begin("d", nil, now: now) == .seconds(600))
        wrong.wasRight("d")
        #expect(wrong.begin("d", nil, now: now) == nil)
        #expect(wrong.begin("a", hall, now: now + WrongKeys.period) == nil)
    }

    @Test("The hash of a request differs by person, kind and key, and has no name in it")
    func requestHashes() {
        let hashes = [
            RequestHash.text("k", of: "ann", for: "class"), RequestHash.text("k", of: "bob", for: "class"),
            RequestHash.text("k", of: "ann", for: "class_key"), RequestHash.text("l", of: "ann", for: "class"),
        ].compactMap { $0 }
        #expect(Set(hashes).count == 4 && hashes.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{64}/) != nil })
        #expect(RequestHash.text("k", of: "ANN", for: "class") == hashes.first)
        #expect(RequestHash.text(nil, of: "ann", for: "class") == nil)
        #expect(Set((0..<1_000).map { _ in ClassCode.random() }).count == 1_000)
    }
}
