import FoundationEssentials
import Base
import GRDB
import Store
import Schemas
import TestSupport
import Testing

/// The entries for the audit log that a store keeps with its changes.
@Suite("Audit queue", .timeLimit(.minutes(10)))
struct AuditQueueTests {
    private static let declaration = StoreDeclaration("devices", Devices.all, audited: true)

    private struct Refused: Error {}

    private static func entry(_ id: ObjectID = ObjectID()) -> AuditEntry {
        AuditEntry(
            id: id, by: AuditAuthor(actor: "ann"), action: "device.add", object: AuditObject(kind: "device", id: "d"),
            after: ["name": "\u{1F4F1} \"quoted\" \u{0}"])
    }

    @Test(
        "Entries wait in their order until the audit log acknowledges them, even after a restart", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let entries = (0..<5).map { _ in Self.entry() }
            try await place.withStore(Self.declaration) { store in
                try await store.transaction { transaction in
                    try transaction.insert(Device.sample(), into: Devices.all)
                    try transaction.record(Array(entries[2...]))
                }
                try await store.transaction { try $0.record(entries[1]) }
                try await store.transaction { try $0.record(entries[0]) }
            }
            try await place.withStore(Self.declaration) { store in
                let queue = AuditQueue(of: store)
                let pending = try await queue.pendingAudit(limit: 100)
                #expect(try pending.map { try JSONCoder.decode(from: Data($0.json.utf8)) } == entries)
                #expect(try await queue.pendingAudit(limit: 2) == Array(pending[..<2]))
                #expect(try await queue.auditBacklog() == AuditBacklog(count: 5, oldest: entries[0].id.created))
                for _ in 0..<2 { try await queue.acknowledgeAudit(Array(pending[..<3])) }
                #expect(try await queue.pendingAudit(limit: 100) == Array(pending[3...]))
                try await queue.acknowledgeAudit(pending)
                #expect(try await queue.pendingAudit(limit: 100).isEmpty)
                #expect(try await queue.auditBacklog() == AuditBacklog())
                try await store.transaction { try $0.record(entries[0]) }
                #expect(try await queue.pendingAudit(limit: 100) == [pending[0]])
            }
        }
    }

    @Test("Entries that another program has changed are left out or damaged, and do not block the others")
    func foreignEntries() async throws {
        try await withPlace(.sqlite) { place in
            let entries = (0..<4).map { _ in Self.entry() }
            try await place.withStore(Self.declaration) { store in try await store.transaction { try $0.record(entries) } }
            let file = try EmbeddedDatabase(path: place.folder + "/devices.sqlite", durability: .processCrash) { _ in }
            try await file.write { database in
                for (entry, change) in zip(entries, ["'$._id.\"$oid\"', 'another'", "'$.entry', 5", "'$._schema', 9"]) {
                    try database.execute(
                        sql: "UPDATE devices_audit SET document = json_set(document, \(change)) WHERE id = ?",
                        arguments: [entry.id.description])
                }
            }
            try file.close()
            try await place.withStore(Self.declaration) { store in
                let pending = try await AuditQueue(of: store).pendingAudit(limit: 9)
                #expect(pending.map(\.id) == [entries[1].id, entries[3].id])
                #expect(pending.first?.json.isEmpty == true)
            }
        }
    }

    @Test("A change that fails leaves no entry", arguments: StoreKind.allCases)
    func undone(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            try await place.withStore(Self.declaration) { store in
                await #expect(throws: Refused.self) {
                    try await store.transaction { transaction in
                        try transaction.record(Self.entry())
                        throw Refused()
                    }
                }
                let pending = try await AuditQueue(of: store).pendingAudit(limit: 9)
                #expect(pending.isEmpty)
            }
        }
    }

    @Test("A refused entry is set aside, and counted", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            try await place.withStore(Self.declaration) { store in
                let queue = AuditQueue(of: store)
                try await store.transaction { try $0.record([Self.entry(), Self.entry()]) }
                let pending = try await queue.pendingAudit(limit: 9)
                // Another instance may refuse it as well.
                for _ in 0..<2 { try await queue.refuseAudit(pending[0]) }
                #expect(try await queue.pendingAudit(limit: 9) == [pending[1]])
                let backlog = AuditBacklog(count: 1, oldest: pending[1].id.created, refused: 1)
                #expect(try await queue.auditBacklog() == backlog)
                let kept = try #require(try await place.document(pending[0].id, in: "devices_audit_refused"))
                #expect(try BSONFields(kept).value("entry") == pending[0].json)
            }
        }
    }

    @Test("A move takes along pending and refused entries, once, even after the source has forwarded some of them")
    func move() async throws {
        try await MoveTests.withPlaces { sqlite, mongodb, _ in
            let url = try #require(mongodb.url)
            try await sqlite.withStore(Self.declaration) { store in
                try await store.transaction { try $0.record([Self.entry(), Self.entry(), Self.entry()]) }
                let queue = AuditQueue(of: store)
                try await queue.refuseAudit(try #require(try await queue.pendingAudit(limit: 1).first))
            }
            _ = try await MoveTests.move(to: .mongodb, folder: sqlite.folder, url: url)
            try await sqlite.withStore(Self.declaration) { store in
                let queue = AuditQueue(of: store)
                try await queue.acknowledgeAudit(try await queue.pendingAudit(limit: 1))
            }
            _ = try await MoveTests.move(to: .mongodb, folder: sqlite.folder, url: url)
            try await mongodb.withStore(Self.declaration) { store in
                let backlog = try await AuditQueue(of: store).auditBacklog()
                #expect(backlog.count == 2 && backlog.refused == 1)
            }
        }
    }
}
