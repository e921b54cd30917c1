import MongoDatabase
package import Schemas

extension MongoMessageStore {
    package func add(_ reports: [AddReceipts], now: UnixMilliseconds) async throws {
        try await MongoError.asFailure {
            try await database.transaction { connection in
                var last = try ReceiptCollection.lastReports(of: reports.map(\.installation), connection)
                var counts = ReceiptCounts()
                for report in reports where report.report > last[report.installation] ?? 0 {
                    last[report.installation] = report.report
                    counts.add(report)
                    try ReceiptCollection.keep(report, now: now, connection)
                }
                for (key, count) in counts.byMessage {
                    _ = try connection.update(
                        ["msi_key": key.bson],
                        ["$inc": ["receipts.received": .int64(count.received), "receipts.opened": .int64(count.opened)]],
                        in: MessageCollection.name)
                }
            }
            // Outside of the transaction, which it could make conflict with another process's.
            try await database.run { try ReceiptCollection.forget(before: now - AddReceipts.memory, $0) }
        }
    }
}

/// The `receipt_installation` collection: for each installation of the students' app the number of its last report.
enum ReceiptCollection {
    private static let name = "receipt_installation"

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

    static func keep(_ report: AddReceipts, now: UnixMilliseconds, _ connection: MongoConnection) throws {
        _ = try connection.update(
            ["_id": report.installation.bson], ["$set": ["report": .int64(report.report), "time": now.bson]], in: name,
            options: ["upsert": true])
    }

    static func forget(before moment: UnixMilliseconds, _ connection: MongoConnection) throws {
        _ = try connection.delete(["time": ["$lt": moment.bson]], from: name)
    }
}
