import AuditTrail
import Bus
import Store
import FoundationEssentials
import GRDB
import Base
import Schemas
import TestSupport
import Testing

/// Entries that cannot be added to the audit log, and a log that another program has damaged.
@Suite("Damaged entries", .timeLimit(.minutes(10)))
struct DamagedEntriesTests {
    private static let ann = CallerContext(actor: "ann", address: "192.0.2.7")

    /// Changes a database while no service uses it.
    fileprivate static func change(
        _ log: AuditLog, _ file: String, _ sql: [(String, StatementArguments)],
        _ change: @escaping @Sendable (MongoConnection) throws -> Void
    ) async throws {
        guard let url = log.url else {
            let database = try EmbeddedDatabase(path: "\(log.folder)/\(file)", durability: .processCrash) { _ in }
            try await database.write { database in
                for (sql, arguments) in sql { try database.execute(sql: sql, arguments: arguments) }
            }
            return try database.close()
        }
        let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: quietLogger)
        try await database.run(change)
        await database.close()
    }

    /// Stores texts as pending entries of the cube.
    private static func add(_ entries: [(id: ObjectID, text: String)], to log: AuditLog) async throws {
        try await change(
            log, "cube.sqlite",
            entries.map { entry -> (String, StatementArguments) in
                (
                    "INSERT INTO cube_audit (id, document) VALUES (?1, json_object('_id', json_object('$oid', ?1), 'entry', ?2))",
                    ["\(entry.id)", entry.text]
                )
            }
        ) { connection in
            let documents = entries.map { id, text -> BSONDocument in ["_id": id.bson, "entry": .string(text)] }
            let errors = try connection.insert(documents, into: "cube_audit")
            #expect(errors.allSatisfy { $0 == nil })
        }
    }

    @Test(
        "An entry that is refused, or is damaged, gets a substitute and holds up no other; the service's health says so",
        arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            try await log.start("msi-cube").stopped()
            let nameless = AuditEntry.sample("")
            let damaged = ObjectID()
            let json = String(decoding: try JSONCoder.encode(nameless), as: UTF8.self)
            try await Self.add([(nameless.id, json), (damaged, "{\"id\":")], to: log)

            let cube = try log.client(of: "cube")
            let (service, people) = (try await log.start("msi-cube"), try await log.start("msi-people"))
            let command = AddChannel(channel: NamedDraft(name: "C", desc: ""))
            let added = try await cube.request(command, context: Self.ann).value.id
            try await Self.waitForEntries(3, in: log)
            let entries = try await log.links().compactMap(\.content)
            #expect(entries.contains { $0.action == "channel.add" && $0.object.id == "\(added)" })
            let substitutes = entries.filter { $0.action == "audit.substitute" }
            #expect(Set(substitutes.map(\.id)) == [nameless.id, damaged])
            let substitute = try #require(substitutes.first { $0.id == nameless.id })
            #expect(substitute.after?["entry"]?.string == json)
            #expect(substitute.after?["reason"]?.string?.contains("entries[0].action") == true)
            try await log.expectWhole()
            #expect(service.log.contains("\(damaged)") && service.log.contains("\(nameless.id)"))
            try await Self.wait(for: .invalid, "2 entries", of: cube)
            #expect(await service.stop() == 0)

            // An operator removes them.
            try await Self.change(log, "cube.sqlite", [("DELETE FROM cube_audit_refused", [])]) {
                _ = try $0.delete([:], from: "cube_audit_refused")
            }
            let again = try await log.start("msi-cube")
            try await Self.wait(for: .ok, of: cube)
            #expect(await again.stop() == 0)
            #expect(await people.stop() == 0)
        }
    }

    @Test(
        "A damaged entry of a template gets a substitute and holds up no other; the message log's health says so",
        arguments: StoreKind.allCases)
    func damagedTemplateEntry(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            try await log.start("msi-message-log").stopped()
            let (text, number, named) = (ObjectID(), ObjectID(), ObjectID())
            let insertion = "INSERT INTO templates_audit (id, document) VALUES (?, ?)"
            try await Self.change(
                log, "templates.sqlite",
                [
                    (insertion, ["\(text)", #"{"_id":{"$oid":"\#(text)"},"entry":"{"}"#]),
                    (insertion, ["\(number)", #"{"_id":{"$oid":"\#(number)"},"entry":5}"#]),
                    (
                        insertion,
                        [
                            "\(named)",
                            #"{"_id":{"$oid":"\#(named)"},"entry":"{\"object\":{\"kind\":\"template\",\"id\":\"storm\"}}"}"#,
                        ]
                    ),
                ]
            ) { connection in
                let documents: [BSONDocument] = [
                    ["_id": text.bson, "entry": "{"], ["_id": number.bson, "entry": 5],
                    ["_id": named.bson, "entry": #"{"object":{"kind":"template","id":"storm"}}"#],
                ]
                let errors = try connection.insert(documents, into: "templates_audit")
                #expect(errors.allSatisfy { $0 == nil })
            }

            let archive = try log.client(of: "message-log")
            let (service, people) = (try await log.start("msi-message-log"), try await log.start("msi-people"))
            let draft = MessageTemplate.Draft(name: "Storm", title: "t", desc: "d", message: "m")
            let added = try await archive.request(AddResource<MessageTemplate>(in: (), draft), context: Self.ann).document
            try await Self.waitForEntries(4, in: log)
            let entries = try await log.links().compactMap(\.content)
            let substitutes = entries.filter { $0.action == "audit.substitute" }
            #expect(Set(substitutes.map(\.id)) == [text, number, named])
            #expect(substitutes.first { $0.id == named }?.object.id == "storm")
            #expect(substitutes.first { $0.id == text }?.after?["entry"]?.string == "{")
            let addition = try #require(entries.first { $0.action == "template.add" })
            #expect(addition.actor == "ann" && addition.object.id == "\(added.id)" && addition.after?["name"]?.string == "Storm")
            try await log.expectWhole()
            try await Self.wait(for: .invalid, "3 entries", of: archive, "template_audit")
            #expect(await service.stop() == 0)
            #expect(await people.stop() == 0)
        }
    }

    /// Waits until a service reports a state of its way to the audit log.
    private static func wait(
        for status: ReplyStatus, _ text: String = "", of service: CommandClient, _ part: String = "audit"
    ) async throws {
        try await eventually("the health is \(status)", every: .milliseconds(100)) {
            let health = try await service.request(CheckHealth()).parts[part]
            return health?.status == status && (text.isEmpty || health?.message?.contains(text) == true)
        }
    }

    private static func waitForEntries(_ count: Int, in log: AuditLog) async throws {
        try await eventually("all entries", every: .milliseconds(100)) {
            try await log.links().count == count
        }
    }

    @Test("A backlog of more than a minute is in the service's health, until it is forwarded", arguments: StoreKind.allCases)
    func backlog(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            try await log.start("msi-cube").stopped()
            let seconds = UInt32(truncatingIfNeeded: UnixMilliseconds.now.seconds) - 130
            let old = AuditEntry(
                id: ObjectID(seconds: seconds), by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"))
            try await Self.add([(old.id, String(decoding: try JSONCoder.encode(old), as: UTF8.self))], to: log)
            let cube = try log.client(of: "cube")
            let service = try await log.start("msi-cube")
            try await Self.wait(for: .unavailable, "1 entries wait", of: cube)
            let people = try await log.start("msi-people")
            try await Self.wait(for: .ok, of: cube)
            #expect(try await log.links().map(\.entryID) == [old.id])
            #expect(await service.stop() == 0)
            #expect(await people.stop() == 0)
        }
    }

    /// What another program does with the audit log itself.
    enum Damage: CaseIterable {
        case headWithoutHash, headWithoutNumber, hugeHead, documentBehind, greatestNumber, hugeDocument, textDocument

        /// The identifier of the inserted document; `nil` if nothing is inserted.
        var inserted: String? {
            switch self {
            case .headWithoutHash, .headWithoutNumber, .hugeHead: nil
            case .documentBehind: "4"
            case .greatestNumber: "9007199254740992"
            case .hugeDocument: "9223372036854775807"
            case .textDocument: "zzz"
            }
        }

        /// The change of the head, in SQLite and in MongoDB.
        private var change: (sql: String, update: BSONDocument) {
            switch self {
            case .headWithoutHash: ("json_remove(document, '$.hash')", ["$unset": ["hash": ""]])
            case .headWithoutNumber: ("json_set(document, '$.number', 'none')", ["$set": ["number": "none"]])
            default: ("json_set(document, '$.number', \(Int64.max))", ["$set": ["number": .int64(.max)]])
            }
        }

        func apply(_ log: AuditLog) async throws {
            let (change, inserted) = (change, inserted)
            let number = inserted.flatMap { Int64($0) }
            let sql =
                inserted.map { "INSERT INTO audit (id, document) VALUES (\(number == nil ? "'\($0)'" : $0), '{}')" }
                ?? "UPDATE audit_head SET document = \(change.sql)"
            try await DamagedEntriesTests.change(log, "people.sqlite", [(sql, [])]) { connection in
                if let inserted {
                    let id = number.map { BSONValue.int64($0) } ?? .string(inserted)
                    _ = try connection.insert([["_id": id]], into: "audit")
                } else {
                    _ = try connection.update([:], change.update, in: "audit_head")
                }
            }
        }
    }

    @Test(
        "A damaged head or an inserted document stops no change of an account; the verification finds what was inserted",
        arguments: StoreKind.allCases, Damage.allCases)
    func damagedLog(_ kind: StoreKind, _ damage: Damage) async throws {
        try await AuditLog.with(kind) { log in
            let before = try await log.start("msi-people")
            _ = try await log.client.request(AddAuditEntries(entries: (0..<3).map { .sample("change.\($0)") }))
            #expect(await before.stop() == 0)
            try await damage.apply(log)

            let people = try await log.start("msi-people")
            // Also without a new entry behind it.
            let found = try await log.verify()
            #expect(found.status == 1, "\(found.text)")
            let admin = try #require(AccountName("admin"))
            let hash = CredentialHash(digest: (0..<32).map { UInt8($0) })
            let setUp = SetUpPeople(account: admin, password: Secret("a password of the test"), tokenHash: hash)
            _ = try await log.client.request(setUp, timeout: .seconds(60))
            for action in ["after", "last"] {
                _ = try await log.client.request(AddAuditEntries(entries: [.sample(action)]))
            }
            let actions = try await log.links().compactMap(\.content?.action)
            #expect(actions == (0..<3).map { "change.\($0)" } + ["account.add", "token.add", "after", "last"])
            let verified = try await log.verify()
            if let inserted = damage.inserted {
                for text in [found.text, verified.text] { #expect(text.contains("document \(inserted) "), "\(text)") }
                #expect(verified.status == 1)
            } else {
                #expect(verified.status == 0, "\(verified.text)")
            }
            #expect(await people.stop() == 0)
        }
    }
}

extension ServiceProcess {
    /// Stops the service, which has made its database.
    fileprivate func stopped() async throws {
        #expect(await stop() == 0)
    }
}
