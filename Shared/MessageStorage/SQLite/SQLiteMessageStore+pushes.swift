import EmbeddedDatabase
import GRDB
import MongoDatabase
package import Schemas

/// Pushes are encoded and decoded outside transactions. With 1,000 recipients that takes milliseconds, in which the single writer
/// could store many messages.
extension SQLiteMessageStore {
    package func insert(_ push: Push) async throws -> Push? {
        let insertion = try PushWrite(PushRow(push))
        return try await database.write { try insertion.insert(in: $0) }?.readDocument()
    }

    package func push(_ id: ObjectID) async throws -> Push? {
        try await database.read { try PushRow.find(id, in: $0) }?.readDocument()
    }

    package func push(of sender: String, idempotencyKey: String) async throws -> Push? {
        try await database.read { try PushRow.find(idempotencyKey, of: sender, in: $0) }?.readDocument()
    }

    package func pushes(after last: ObjectID?, limit: Int) async throws -> [Push] {
        let rows: [PushRow] = try await database.read { [due] database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT * FROM push WHERE pushID > ? ORDER BY pushID LIMIT ?",
                arguments: [last?.description ?? "", limit])
            return try due.pushes.rows(of: rows)
        }
        return try due.pushes.documents(of: rows)
    }

    @discardableResult
    package func update(
        push id: ObjectID, _ change: @escaping @Sendable (inout PushRecord, Push) throws -> Void
    ) async throws -> Push? {
        try await pushTurns.take(id) {
            for _ in 0..<Self.maxOptimisticChanges {
                guard let row = try await database.read({ try PushRow.find(id, in: $0) }) else { return nil }
                let (push, new) = try Self.apply(change, to: row)
                let former = try PushWrite(row)
                // It fails if a claim has changed the row meanwhile.
                if try await database.write({ try new.replace(former, in: $0) }) { return push }
            }
            // The row changes too often, or another program has written it in a form that this store does not write.
            return try await database.write { database in
                guard let row = try PushRow.find(id, in: database) else { return nil }
                let (push, new) = try Self.apply(change, to: row)
                _ = try new.replace(nil, in: database)
                return push
            }
        }
    }

    /// A change is tried this many times outside a transaction, and then made inside one.
    private static let maxOptimisticChanges = 10

    private static func apply(
        _ change: (inout PushRecord, Push) throws -> Void, to row: PushRow
    ) throws -> (push: Push, write: PushWrite) {
        let stored = try row.readDocument()
        var push = stored
        try change(&push.relay, stored)
        return (push, try PushWrite(row.with(push.relay)))
    }
}
