import Store
package import Schemas

extension MongoMessageStore {
    package func add(_ reports: [AddReceipts], now: UnixMilliseconds, maxInstallations: Int) async throws {
        try await MongoError.asFailure {
            var counts = ReceiptCounts(of: reports)
            let wanted = Array(counts.messages)
            counts.keep(try await database.run { try ReceiptCollection.countable(wanted, now: now, $0) })
            guard !counts.reports.isEmpty else { return }
            // It touches no document of `message`: if the process is killed, its locks stay for a while.
            try await database.transaction { [counts] connection in
                var counts = counts
                var last = try ReceiptInstallationCollection.lastReports(of: counts.reports.map(\.installation), connection)
                for report in counts.reports where report.report > last[report.installation] ?? 0 {
                    last[report.installation] = report.report
                    counts.add(report)
                }
                try ReceiptInstallationCollection.set(last, now: now, connection)
                try ReceiptCollection.change("$inc", counts.byMessage, connection)
            }
            // Outside of the transaction, so that it does not conflict with another process's.
            try await database.run { connection in
                try ReceiptInstallationCollection.forget(before: now - AddReceipts.memory, connection)
                try ReceiptInstallationCollection.forget(beyond: maxInstallations, connection)
            }
        }
    }

    package func receipts(of msiKeys: [ObjectID]) async throws -> [ObjectID: MessageReceipts] {
        try await MongoError.asFailure { try await database.run { try ReceiptCollection.receipts(of: msiKeys, $0) } }
    }

    package func installations(reportedSince moment: UnixMilliseconds) async throws -> Int {
        try await MongoError.asFailure {
            try await database.run { try ReceiptInstallationCollection.count(since: moment, $0) }
        }
    }

    package func set(_ receipts: [ObjectID: MessageReceipts]) async throws {
        try await MongoError.asFailure { try await database.run { try ReceiptCollection.change("$set", receipts, $0) } }
    }
}

/// The `receipt` collection: how many phones have received and opened a message. Its `_id` is the message's `msi_key`.
enum ReceiptCollection {
    private static let name = "receipt"

    /// Creates the collection by naming the index that each has: a transaction that created it would conflict with others.
    static func prepare(_ connection: MongoConnection) throws {
        let index: BSONDocument = ["name": "_id_", "key": ["_id": 1]]
        _ = try connection.write(["createIndexes": .string(name), "indexes": .array([.document(index)])])
    }

    /// Which messages are stored, and may have gone out: those of other programs, without a `relay`, those that a relay has taken, and
    /// those that were due, unless they were recalled before or never approved. Phones can fetch a due Alert, and a power cut can undo
    /// what is stored of an attempt.
    static func countable(
        _ msiKeys: [ObjectID], now: UnixMilliseconds, _ connection: MongoConnection
    ) throws -> Set<ObjectID> {
        let milliseconds: BSONValue = ["$multiply": ["$delay", 1_000]]
        let planned: BSONValue = ["$ifNull": ["$send_at", ["$add": ["$timestamp", milliseconds]]]]
        let wasDue: BSONValue = [
            ["send_at": nil, "delay": nil], ["relay.next_attempt": ["$lte": now.bson]],
            ["relay.webpush_attempt": ["$lte": now.bson]],
            ["$expr": ["$gt": ["$relay.ended", planned]]],
        ]
        let approve = Intervention.Action.approve.rawValue.bson
        let wasApproved: BSONValue = [["approval": ["$ne": true]], ["relay.trace.action": approve]]
        let mayBeOut: BSONValue = [
            "relay.state": ["$ne": RelayState.held.bson], "$and": [["$or": wasDue], ["$or": wasApproved]],
        ]
        let found = try connection.find(
            [
                "msi_key": ["$in": msiKeys.bson],
                "$or": [["relay": nil], ["relay.attempts": ["$gt": 0]], ["relay.lease": ["$exists": true]], mayBeOut],
            ],
            in: MessageCollection.name, options: ["projection": ["msi_key": 1]])
        return Set(try found.map { try BSONFields($0).value("msi_key") })
    }

    static func receipts(of msiKeys: [ObjectID], _ connection: MongoConnection) throws -> [ObjectID: MessageReceipts] {
        let found = try connection.find(["_id": ["$in": msiKeys.bson]], in: name).map { document in
            let fields = try BSONFields(document)
            let key: ObjectID = try fields.value("_id")
            return (key, MessageReceipts(received: try fields.value("received"), opened: try fields.value("opened")))
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// Changes the counts of messages.
    ///
    /// - Parameter operation: `$inc` or `$set`.
    static func change(
        _ operation: String, _ counts: [ObjectID: MessageReceipts], _ connection: MongoConnection
    ) throws {
        try connection.upsert(
            counts.map { key, count in
                (key, [operation: ["received": .int64(count.received), "opened": .int64(count.opened)]])
            }, in: name)
    }

    static func remove(_ msiKeys: [ObjectID], _ connection: MongoConnection) throws {
        guard !msiKeys.isEmpty else { return }
        _ = try connection.delete(["_id": ["$in": msiKeys.bson]], from: name)
    }
}

/// The `receipt_installation` collection: for each installation of the students' app the number of its last report.
enum ReceiptInstallationCollection {
    private static let name = "receipt_installation"
    private static let maxPerDeletion: Int64 = 10_000

    /// Creates the missing index.
    static func prepare(_ connection: MongoConnection) throws {
        let index: BSONDocument = ["name": "time", "key": ["time": 1]]
        _ = try connection.write(["createIndexes": .string(name), "indexes": .array([.document(index)])])
    }

    static func lastReports(of installations: [ObjectID], _ connection: MongoConnection) throws -> [ObjectID: Int64] {
        var last: [ObjectID: Int64] = [:]
        for document in try connection.find(["_id": ["$in": installations.bson]], in: name) {
            let fields = try BSONFields(document)
            last[try fields.value("_id")] = try fields.value("report")
        }
        return last
    }

    static func set(_ reports: [ObjectID: Int64], now: UnixMilliseconds, _ connection: MongoConnection) throws {
        try connection.upsert(reports.map { ($0, ["$set": ["report": .int64($1), "time": now.bson]]) }, in: name)
    }

    /// How many have reported since a time: the index of the times has them all.
    static func count(since moment: UnixMilliseconds, _ connection: MongoConnection) throws -> Int {
        let query: BSONDocument = ["time": ["$gte": moment.bson]]
        let reply = try connection.read(["count": .string(name), "query": .document(query)])
        return Int(try BSONFields(reply).value("n", as: Int64.self))
    }

    static func forget(before moment: UnixMilliseconds, _ connection: MongoConnection) throws {
        _ = try connection.delete(["time": ["$lt": moment.bson]], from: name)
    }

    /// Forgets the installations whose last report is the oldest, if there are more than a number.
    static func forget(beyond max: Int, _ connection: MongoConnection) throws {
        // Without a filter the server only reads the collection's size.
        let excess = try BSONFields(connection.read(["count": .string(name)])).value("n", as: Int64.self) - Int64(max)
        guard excess > 0 else { return }
        let first = try connection.find(
            [:], in: name, options: ["sort": ["time": 1], "limit": .int64(min(excess, maxPerDeletion)), "projection": ["_id": 1]])
        let ids: [ObjectID] = try first.map { try BSONFields($0).value("_id") }
        _ = try connection.delete(["_id": ["$in": ids.bson]], from: name)
    }

    /// The size of the collection with its indexes, in bytes.
    static func size(_ connection: MongoConnection) throws -> Int64 {
        let sizes = try BSONFields(connection.read(["collStats": .string(name)]))
        func size(_ name: String) throws -> Int64 { try sizes.optional(name) ?? 0 }
        return try size("storageSize") - size("freeStorageSize") + size("totalIndexSize")
    }
}

extension MongoConnection {
    /// Changes or creates documents, by one command.
    fileprivate func upsert(_ changes: [(id: ObjectID, change: BSONDocument)], in collection: String) throws {
        guard !changes.isEmpty else { return }
        // In the order of their ids: transactions that change the same documents wait for each other rather than conflict.
        let statements = changes.sorted { $0.id < $1.id }.map { id, change in
            BSONValue.document(["q": ["_id": id.bson], "u": .document(change), "upsert": true])
        }
        let reply = try BSONFields(write(["update": .string(collection), "updates": .array(statements)]))
        if let error = try reply["writeErrors"].map({ _ in try reply.list("writeErrors").first }) {
            throw MongoError(.other, try error?.optional("errmsg") ?? "a document could not be changed")
        }
    }
}
