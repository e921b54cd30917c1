import AuditTrail
import FoundationEssentials
import Logging
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// The newest hash of the audit log in the service's log.
@Suite("Logged hash of the audit log", .timeLimit(.minutes(10)))
struct AuditHeadLogTests {
    @Test("It is logged at notice and written to a file at the start, and again after each period, with the entries since")
    func repeated() async throws {
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: nil, folder: folder)
            let store = try await Storage.open(PeopleStore.declaration, at: place, logger: quietLogger)
            let log = RecordedLog()
            let file = AuditHeadFile(stateDirectory: folder)
            let heads = AuditHeadLog(store: store, file: file, logger: log.logger, period: .milliseconds(20))
            let task = Task { try await heads.run() }
            try await eventually { log.lines.contains { $0.level == .notice && $0.text.contains("0:000000") } }
            let entry = AuditEntry(by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"))
            try await store.transaction { try $0.appendAudit([entry]) }
            let head = try #require(try await store.snapshot { try $0.auditHead() })
            try await eventually { log.lines.contains { $0.level == .notice && $0.text.contains("1:\(head.hash)") } }
            try await eventually {
                let text = try String(decoding: Data(contentsOf: URL(filePath: file.path)), as: UTF8.self)
                return AuditHeadFile.heads(in: text).contains(head)
            }
            task.cancel()
            _ = await task.result
            try await store.close()
        }
    }
}
