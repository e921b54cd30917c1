import AuditTrail
import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// What the start does about persons who were erased, and are in the store again or still.
@Suite("Erasure again", .timeLimit(.minutes(10)))
struct ErasureRestoreTests {
    private static let database = "/people.sqlite"

    /// Runs the service with others that erase.
    private func withPeople<Result>(
        in folder: String, _ messageLog: ErasureDouble, _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        try await messageLog.run(in: folder) { try await RunningPeople.with(in: folder, body) }
    }

    private func erase(_ names: AccountName..., by people: RunningPeople) async throws {
        for name in names {
            let report = try await people.client.request(BeginErasure(of: name))
            #expect(report.services.map(\.service) == ["people", "study", "message-log"])
        }
        try await people.finishedErasures(names.count)
    }

    @Test("The data of an older backup is erased again, in the other services as well; other names of the log are never given")
    func restored() async throws {
        try await withTemporaryFolder { folder in
            let log = ErasureLog(stateDirectory: folder)
            try await withPeople(in: folder, ErasureDouble()) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob")
                // The key of its digests is in the backup.
                try await eventually("the log") { log.exists }
            }
            let kept = folder + "/kept.sqlite"
            try FileManager.default.copyItem(atPath: folder + Self.database, toPath: kept)
            try await withPeople(in: folder, ErasureDouble()) { people in
                try await people.addStudents("carl")
                try await erase("ann", "carl", by: people)
            }
            let lines = try log.lines()
            try FileManager.default.removeItem(atPath: folder + Self.database)
            try FileManager.default.moveItem(atPath: kept, toPath: folder + Self.database)

            let messageLog = ErasureDouble()
            try await withPeople(in: folder, messageLog) { people in
                try await people.finishedErasures()
                #expect(messageLog.erased == ["ann"])
                #expect(try await people.client.request(FindAccount("bob")).account == "bob")
                for name in ["ann", "carl"] as [AccountName] {
                    #expect(await people.client.failure(of: FindAccount(name))?.status == .notFound)
                    let again = AddAccount(account: name, password: RunningPeople.password, role: .student)
                    #expect(await people.client.failure(of: again)?.status == .conflict)
                }
                #expect(try await people.erasures().erasedNames == 2)
            }
            #expect(try log.lines() == lines)
        }
    }

    @Test("A kill behind the line of the log is made good by the start")
    func killedBehindTheLine() async throws {
        try await withTemporaryFolder { folder in
            try await withPeople(in: folder, ErasureDouble()) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob")
            }
            let digest = try await withPeopleStore(in: folder) { store in
                try await store.transaction { transaction in
                    let name: AccountName = "ANN"
                    let key = try transaction.namesKey()
                    return name.digest(by: key)
                }
            }
            try ErasureLog(stateDirectory: folder).append([ErasureLog.Line(at: .now, digest: digest)])
            let messageLog = ErasureDouble()
            try await withPeople(in: folder, messageLog) { people in
                try await people.finishedErasures()
                #expect(messageLog.erased == ["ann"])
                #expect(await people.client.failure(of: FindAccount("ann"))?.status == .notFound)
            }
        }
    }

    @Test("A kill at any later point is made good by the start", arguments: [0, 1, 2])
    func killedLater(step: Int) async throws {
        try await withTemporaryFolder { folder in
            let begun = try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann")
                return try await people.client.request(BeginErasure(of: "ann")).id
            }
            // As a kill leaves it: nobody has answered; all have; and the name is forgotten.
            try await withPeopleStore(in: folder) { store in
                try await store.transaction { transaction in
                    guard step > 0 else { return }
                    let answers = ErasureDouble.services.map { ErasureReport.Service(service: $0, removed: [], stays: []) }
                    try transaction.update(begun, in: PeopleStore.erasures) { $0.services += answers }
                    if step > 1 { try transaction.forgetName(of: begun) }
                }
            }
            let messageLog = ErasureDouble()
            try await withPeople(in: folder, messageLog) { people in
                let finished = try await people.finishedErasures()
                #expect(finished.map(\.id) == [begun])
                #expect(messageLog.erased == (step == 0 ? ["ann"] : []))
            }
            try await withPeopleStore(in: folder) { store in
                let ann = try await store.get("ann", from: PeopleStore.accounts)
                #expect(ann == nil)
                let stored = try await store.get(begun, from: PeopleStore.erasures)
                let erasure = try #require(stored?.document)
                #expect(erasure.account == nil && erasure.expires != nil)
            }
        }
    }

    @Test("An erasure that ended beside a backup is repeated after its restore, by the name in the audit log")
    func repeated() async throws {
        try await withTemporaryFolder { folder in
            try await withPeople(in: folder, ErasureDouble()) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob")
                try await erase("ann", "bob", by: people)
            }
            // As msi restore does.
            try await StoredDocuments.change(RepeatedErasures.collection, in: folder) { fields in
                fields[RepeatedErasures.endField] = nil
                fields[RepeatedErasures.expiryField] = nil
                fields[RepeatedErasures.servicesField] = .array([])
            }
            let messageLog = ErasureDouble()
            try await withPeople(in: folder, messageLog) { people in
                try await people.finishedErasures(2)
                #expect(Set(messageLog.erased) == ["ann", "bob"] && messageLog.erased.count == 2)
            }
        }
    }

    @Test("The first start makes the log, and a lost one is written again from the store")
    func lostLog() async throws {
        try await withTemporaryFolder { folder in
            let log = ErasureLog(stateDirectory: folder)
            try await withPeople(in: folder, ErasureDouble()) { people in
                try await people.setUp()
                try await eventually("the log") { log.exists }
                #expect(try log.lines().isEmpty)
                try await people.addStudents("ann")
                try await erase("ann", by: people)
            }
            let lines = try log.lines()
            #expect(lines.count == 1)
            try FileManager.default.removeItem(atPath: log.path)
            try await withPeople(in: folder, ErasureDouble()) { _ in
                try await eventually("the log again") { try log.lines().map(\.digest) == lines.map(\.digest) }
            }
        }
    }
}
