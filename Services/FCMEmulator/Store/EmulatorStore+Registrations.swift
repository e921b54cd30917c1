import EmbeddedDatabase
import GRDB
import Schemas

/// The subscriptions of one phone. A registration is the phone's token or its installation's id.
extension EmulatorStore {
    /// The result of creating a subscription.
    enum Creation: Hashable, Sendable {
        case created(Subscription, device: Int64)
        case existed(Subscription)
        case notRegistered
        case tooManyTopics
    }

    func createSubscription(of registration: String, to topic: String, now: UnixMilliseconds) async throws -> Creation {
        try await database.write { database in
            guard let device = try database.device(registration) else { return .notRegistered }
            if let subscription = try database.subscription(of: device, to: topic) { return .existed(subscription) }
            guard try database.subscribe(device, to: topic, now: now) else { return .tooManyTopics }
            return .created(Subscription(topic: topic, created: now), device: device)
        }
    }

    /// The result of ending a subscription, or of a lookup.
    enum Lookup: Hashable, Sendable {
        case found(Subscription)
        case notSubscribed
        case notRegistered
    }

    func subscription(of registration: String, to topic: String) async throws -> Lookup {
        try await database.read { database in
            guard let device = try database.device(registration) else { return .notRegistered }
            return try database.subscription(of: device, to: topic).map { .found($0) } ?? .notSubscribed
        }
    }

    func endSubscription(of registration: String, to topic: String) async throws -> Lookup {
        try await database.write { database in
            guard let device = try database.device(registration) else { return .notRegistered }
            guard let subscription = try database.subscription(of: device, to: topic) else { return .notSubscribed }
            try database.unsubscribe(device, from: topic)
            return .found(subscription)
        }
    }

    /// A phone's subscriptions in the order of their topics.
    ///
    /// - Parameter topic: The page starts after this topic.
    /// - Returns: `nil` for a phone that is not registered.
    func subscriptions(of registration: String, after topic: String, limit: Int) async throws -> [Subscription]? {
        try await database.read { database in
            guard let device = try database.device(registration) else { return nil }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT topic, created FROM subscription WHERE device = ? AND topic > ? AND through IS NULL
                    ORDER BY topic LIMIT ?
                    """,
                arguments: [device, topic, limit])
            return rows.map { Subscription(topic: $0["topic"], created: $0["created"]) }
        }
    }
}

extension EmulatorStore {
    /// Whether there is a phone with this token or installation's id.
    func isRegistered(_ registration: String) async throws -> Bool {
        try await database.read { try $0.device(registration) != nil }
    }
}

extension Database {
    /// The row id of a phone by its token or its installation's id; `nil` for one that is not registered.
    func device(_ registration: String) throws -> Int64? {
        try registration.contains(":") ? device(withToken: registration) : device(withInstallation: registration)
    }

    func device(withInstallation id: String) throws -> Int64? {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT id FROM device WHERE token >= ? AND token < ?"), arguments: ["\(id):", "\(id);"])
    }
}
