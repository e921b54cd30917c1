import Store
import GRDB

/// One component of one message. FCM should accept it only once.
struct SentComponent: Hashable, Sendable {
    let msiKey: String
    let component: Component

    enum Component: String, CaseIterable, Sendable {
        case notification, data
    }
}

extension EmulatorStore {
    /// How many sends were accepted since the counts began.
    struct Counts: Hashable, Sendable {
        let accepted: Int64
        /// The number of different components among them.
        let distinct: Int64
        /// The number of components that were accepted more than once.
        let doubled: Int64
        /// The number of sends without an `msi_key`.
        let unkeyed: Int64
    }

    func sendCounts() async throws -> Counts {
        try await database.read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT count(*), coalesce(sum(sends), 0), count(*) FILTER (WHERE sends > 1) FROM counted")
            let unkeyed = try Int64.fetchOne(database, sql: "SELECT sends FROM unkeyed") ?? 0
            let keyed: Int64 = row?[1] ?? 0
            return Counts(accepted: keyed + unkeyed, distinct: row?[0] ?? 0, doubled: row?[2] ?? 0, unkeyed: unkeyed)
        }
    }

    /// How often a component was accepted.
    struct CountedComponent: Hashable, Sendable {
        let component: SentComponent
        let sends: Int64
    }

    /// The components of one message.
    func counted(msiKey: String) async throws -> [CountedComponent] {
        try await database.read {
            try CountedComponent.fetch($0, "SELECT * FROM counted WHERE msi_key = ?", [msiKey])
        }
    }

    /// The first of the components that were accepted more than once.
    func doubled(limit: Int) async throws -> [CountedComponent] {
        try await database.read {
            try CountedComponent.fetch($0, "SELECT * FROM counted WHERE sends > 1 ORDER BY msi_key LIMIT ?", [limit])
        }
    }

    /// Resets the counts.
    func clearCounts() async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM counted")
            try database.execute(sql: "UPDATE unkeyed SET sends = 0")
        }
    }
}

extension EmulatorStore.CountedComponent {
    fileprivate static func fetch(_ database: Database, _ sql: String, _ arguments: StatementArguments) throws -> [Self] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).compactMap { row in
            let component: String = row["component"]
            return SentComponent.Component(rawValue: component).map {
                Self(component: SentComponent(msiKey: row["msi_key"], component: $0), sends: row["sends"])
            }
        }
    }
}

extension Database {
    /// Counts an accepted send.
    func count(_ component: SentComponent?) throws {
        guard let component else {
            return try cachedStatement(sql: "UPDATE unkeyed SET sends = sends + 1").execute()
        }
        let statement = try cachedStatement(
            sql: """
                INSERT INTO counted (msi_key, component, sends) VALUES (?, ?, 1)
                ON CONFLICT DO UPDATE SET sends = sends + 1
                """)
        try statement.execute(arguments: [component.msiKey, component.component.rawValue])
    }
}
