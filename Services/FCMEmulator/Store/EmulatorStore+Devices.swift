import EmbeddedDatabase
import GRDB

extension EmulatorStore {
    /// Registers a new phone.
    func register(token: String) async throws {
        try await database.write { database in
            try database.execute(sql: "INSERT INTO device (token) VALUES (?)", arguments: [token])
        }
    }

    /// Removes a phone with its subscriptions and its queue.
    ///
    /// - Returns: The phone's row id, or `nil` if the token is not registered.
    func unregister(token: String) async throws -> Int64? {
        try await database.write { database in
            try Int64.fetchOne(database, sql: "DELETE FROM device WHERE token = ? RETURNING id", arguments: [token])
        }
    }

    /// A phone's state at the opening of its event stream.
    struct Listener: Hashable, Sendable {
        let device: Int64
        /// The last position that counts as delivered.
        let delivered: Int64
        /// The position of the message that was accepted last.
        let last: Int64
        let topics: [String]
    }

    /// The phone with this token; `nil` if the token is not registered.
    func listener(token: String) async throws -> Listener? {
        try await database.read { database in
            let row = try Row.fetchOne(database, sql: "SELECT id, delivered FROM device WHERE token = ?", arguments: [token])
            guard let row else { return nil }
            let device: Int64 = row["id"]
            return Listener(
                device: device, delivered: row["delivered"], last: try database.lastPosition(),
                topics: try String.fetchAll(
                    database, sql: "SELECT topic FROM subscription WHERE device = ? AND through IS NULL", arguments: [device]))
        }
    }

    /// Notes that a phone has received everything up to a position.
    func confirm(_ position: Int64, deliveredTo device: Int64) async throws {
        try await database.write { database in
            try database.cachedStatement(sql: "UPDATE device SET delivered = ? WHERE id = ? AND delivered < ?")
                .execute(arguments: [position, device, position])
        }
    }
}
