import AuditTrail
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// The erasure of persons by a super user, with other services that answer or do not.
@Suite("Erasure", .timeLimit(.minutes(10)))
struct ErasureTests {
    private static let bio = "collects stamps of lighthouses"

    @Test(
        "An erased student is gone from all services and files, stays in the audit log by name alone, and the name is never given again",
        arguments: StoreKind.allCases)
    func erased(kind: StoreKind) async throws {
        try await RunningPeople.withStudents(kind, "ann", "bob") { people in
            let (ann, messageLog) = (people.student("ann"), ErasureDouble())
            try await people.befriend("ann", "bob")
            _ = try await ann.request(SetProfile(Profile(bio: Self.bio)))
            let report = try await messageLog.run(in: people.folder) {
                // The reply may come before the other services have been found.
                let begun = try await people.client.request(BeginErasure(of: "ANN"), context: .admin)
                let finished = try await people.finishedErasures()
                #expect(finished.map(\.id) == [begun.id])
                return finished[0]
            }
            #expect(report.finished != nil && report.waiting.isEmpty)
            // A caller who waits and the loop may both ask.
            #expect(Set(messageLog.erased) == ["ann"])
            #expect(report.services.map(\.service) == ["people", "study", "message-log"])
            #expect(report.services[2].removed == [ErasedData(what: "pushes", count: 2)])
            let removed = Dictionary(report.services[0].removed.map { ($0.what, $0.count) }) { $0 + $1 }
            #expect(removed["accounts"] == 1 && removed["friendships"] == 2 && removed["profile"] == 1, "\(removed)")
            if kind == .sqlite { #expect(try peopleFiles(in: people.folder, with: Self.bio).isEmpty) }

            #expect(await ann.failure(of: GetProfile())?.status == .unauthenticated)
            #expect(await people.client.failure(of: FindAccount("ann"))?.status == .notFound)
            #expect(try await people.student("bob").relations() == TestStudent.Relations())
            let again = AddAccount(account: "Ann", password: RunningPeople.password, role: .student)
            let refusal = await people.client.failure(of: again)
            #expect(refusal?.status == .conflict && refusal?.field == "account")
            #expect(await people.client.failure(of: BeginErasure(of: "ann"))?.status == .notFound)

            let erasures = try await people.erasures()
            #expect(erasures.erasedNames == 1 && erasures.waiting.isEmpty && erasures.finished == [report])
            let lines = try ErasureLog(stateDirectory: people.folder).lines()
            #expect(lines.count == 1)
            var filter = AuditFilter()
            filter.action = "person.erase"
            let entries = try await people.client.request(ListAuditEntries(limit: 10, filter: filter)).entries.map(\.entry)
            #expect(entries.count == 1 && entries[0].actor == "admin" && entries[0].object.id == "ann")
            #expect(entries[0].before == nil && entries[0].after == nil)
        }
    }

    @Test("Staff is not erased, and nobody who is not there")
    func refused() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann") { people in
            #expect(await people.client.failure(of: BeginErasure(of: "admin"))?.status == .conflict)
            #expect(await people.client.failure(of: BeginErasure(of: "nobody"))?.status == .notFound)
            let unknown = CredentialHash(digest: [UInt8](repeating: 7, count: 32))
            let other = CallerContext(actor: "x", credential: unknown)
            #expect(await people.client.failure(of: BeginErasure(of: "ann"), context: other)?.status == .unauthenticated)
            let lines = try ErasureLog(stateDirectory: people.folder).lines()
            #expect(lines.isEmpty, "a refused erasure would be made good by the next start")
            let ann = try await people.client.request(FindAccount("ann"))
            #expect(ann.account == "ann")
        }
    }

    @Test("Nobody is erased if that cannot be noted in the log first")
    func noLog() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/erasures.log", withIntermediateDirectories: false)
            try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann")
                let failure = await people.client.failure(of: BeginErasure(of: "ann"))
                #expect(failure?.status == .unavailable && failure?.message.contains(folder) == false)
                #expect(try await people.client.request(FindAccount("ann")).disabled == false)
                #expect(try await people.erasures().erasedNames == 0)
            }
        }
    }

    @Test(
        "A service that is away, old, or fails is asked until it has answered, after a restart as well; the person is out at once",
        arguments: [
            nil, CommandFailure(.invalid, "\(CommandFailure.unknownCommand) person.erase"), CommandFailure(.internal, "a fault"),
        ])
    func waiting(failure: CommandFailure?) async throws {
        try await withTemporaryFolder { folder in
            let messageLog = ErasureDouble()
            messageLog.fail(failure, for: "ann")
            let begun = try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob")
                func erase() async throws -> ErasureReport { try await people.client.request(BeginErasure(of: "ann")) }
                // Without a failure there is no other service at all.
                let report = failure == nil ? try await erase() : try await messageLog.run(in: folder) { try await erase() }
                #expect(report.finished == nil && report.waiting == ["study", "message-log"])
                #expect(await people.student("ann").failure(of: GetProfile())?.status == .unauthenticated)
                // Repeated, it is the same one.
                let again = try await people.client.request(BeginErasure(of: "ann"))
                #expect(again.id == report.id && again.waiting == ["study", "message-log"])
                #expect(try await people.erasures().waiting.map(\.id) == [report.id])
                return report
            }
            messageLog.fail(nil, for: "ann")
            try await messageLog.run(in: folder) {
                try await RunningPeople.with(in: folder) { people in
                    let finished = try await people.finishedErasures()
                    #expect(finished.map(\.id) == [begun.id] && messageLog.erased == ["ann"])
                    #expect(finished[0].services.map(\.service) == ["people", "study", "message-log"])
                    #expect(try await people.client.request(FindAccount("bob")).account == "bob")
                }
            }
        }
    }

    @Test("The message log is asked last, since the others may hand over pushes to the person until they have erased")
    func order() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
            let others = ErasureDouble()
            others.fail(CommandFailure(.internal, "a fault"), for: "ann", by: ["study"])
            try await others.run(in: people.folder) {
                let begun = try await people.client.request(BeginErasure(of: "ann"))
                #expect(begun.waiting == ["study", "message-log"])
                _ = try await people.client.request(BeginErasure(of: "bob"))
                try await eventually("bob is erased") { others.erased.contains("bob") }
                #expect(!others.erased.contains("ann"))
                others.fail(nil, for: "ann")
                try await people.finishedErasures(2)
                for service in ErasureDouble.services { #expect(Set(others.erased(by: service)) == ["ann", "bob"]) }
            }
        }
    }

    @Test("A failure for one person does not keep others from being erased")
    func oneFails() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
            let messageLog = ErasureDouble()
            messageLog.fail(CommandFailure(.internal, "a fault"), for: "ann")
            for name in ["ann", "bob"] as [AccountName] {
                #expect(try await people.client.request(BeginErasure(of: name)).finished == nil)
            }
            try await messageLog.run(in: people.folder) {
                let finished = try await eventually("bob is erased") {
                    let erasures = try await people.erasures()
                    return erasures.finished.isEmpty ? nil : erasures.finished
                }
                #expect(messageLog.erased == ["bob"] && finished.count == 1)
                messageLog.fail(nil, for: "ann")
                try await people.finishedErasures(2)
                #expect(messageLog.erased == ["bob", "ann"])
            }
        }
    }
}
