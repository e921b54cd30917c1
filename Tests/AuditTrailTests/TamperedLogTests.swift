import AuditTrail
import Bus
import Store
import FoundationEssentials
import GRDB
import Schemas
import TestSupport
import Testing

/// `msi audit verify` on logs that another program has changed in the database. ``AuditVerificationTests`` has every kind of change.
@Suite("Tampered audit log", .timeLimit(.minutes(10)))
struct TamperedLogTests {
    /// What another program does in the database.
    enum Tampering: CaseIterable {
        case change, cutOff, cutOffWithHead

        /// The first broken entry, of six.
        var broken: Int64? {
            switch self {
            case .change: 3
            case .cutOff: 5
            // Only a logged hash tells.
            case .cutOffWithHead: nil
            }
        }

        var sql: [String] {
            switch self {
            case .change: ["UPDATE audit SET document = replace(document, 'change.2', 'change.9') WHERE id = 3"]
            case .cutOff: ["DELETE FROM audit WHERE id > 4"]
            case .cutOffWithHead:
                Self.cutOff.sql + [
                    """
                    UPDATE audit_head SET document = json_set(
                        document, '$.number', 4, '$.hash', (SELECT json_extract(document, '$.hash') FROM audit WHERE id = 4))
                    """
                ]
            }
        }

        func apply(_ connection: MongoConnection) throws {
            switch self {
            case .change:
                let link = try #require(try connection.find(["_id": .int64(3)], in: "audit").first)
                let text: String = try BSONFields(link).value("entry")
                _ = try connection.update(
                    ["_id": .int64(3)], ["$set": ["entry": .string(text.replacing("change.2", with: "change.9"))]], in: "audit")
            case .cutOff: _ = try connection.delete(["_id": ["$gt": .int64(4)]], from: "audit")
            case .cutOffWithHead:
                try Self.cutOff.apply(connection)
                let link = try #require(try connection.find(["_id": .int64(4)], in: "audit").first)
                let hash: String = try BSONFields(link).value("hash")
                _ = try connection.update([:], ["$set": ["number": .int64(4), "hash": .string(hash)]], in: "audit_head")
            }
        }
    }

    private static func tamper(_ log: AuditLog, _ tampering: Tampering) async throws {
        guard let url = log.url else {
            let file = try EmbeddedDatabase(path: log.folder + "/people.sqlite", durability: .processCrash) { _ in }
            try await file.write { database in
                for sql in tampering.sql { try database.execute(sql: sql) }
            }
            return try file.close()
        }
        let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: quietLogger)
        try await database.run { try tampering.apply($0) }
        await database.close()
    }

    @Test(
        "A changed and a cut-off entry is named; a whole log is not complained about",
        arguments: StoreKind.allCases, Tampering.allCases)
    func verify(_ kind: StoreKind, _ tampering: Tampering) async throws {
        try await AuditLog.with(kind) { log in
            let newest = try await log.withPeople { _ in
                _ = try await log.client.request(AddAuditEntries(entries: (0..<6).map { .sample("change.\($0)") }))
                let whole = try await log.verify()
                #expect(whole.status == 0 && whole.text.contains("6 entries"), "\(whole.text)")
                let newest = try #require(whole.text.firstMatch(of: /6:[0-9a-f]{64}/)).0
                let compared = try await log.verify("--hash", String(newest))
                #expect(compared.status == 0, "\(compared.text)")
                return String(newest)
            }
            try await Self.tamper(log, tampering)
            try await log.withPeople { _ in
                let found = try await log.verify()
                if let broken = tampering.broken {
                    #expect(found.status == 1 && found.text.contains("entry \(broken) "), "\(found.text)")
                } else {
                    #expect(found.status == 0, "\(found.text)")
                }
                let compared = try await log.verify("--hash", newest)
                #expect(compared.status == 1 && compared.text.contains("entry \(tampering.broken ?? 5) "), "\(compared.text)")
                // The log still takes entries.
                _ = try await log.client.request(AddAuditEntries(entries: [.sample("after")]))
                #expect(try await log.links().last?.content?.action == "after")
            }
        }
    }

    @Test("Without the people service, the exit status says that nothing was verified")
    func absent() async throws {
        try await AuditLog.with(.sqlite) { log in
            let verified = try await log.verify()
            #expect(verified.status == 75 && verified.text.contains("does not answer"), "\(verified.text)")
        }
    }
}
