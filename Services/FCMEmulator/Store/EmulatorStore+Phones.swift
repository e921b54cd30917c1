import Store
import GRDB
import Schemas

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

extension EmulatorStore {
    /// The result for one registration of a call that changes subscriptions.
    enum SubscriptionOutcome: Hashable, Sendable {
        /// The subscription is as requested, even if nothing had to change.
        case done(device: Int64)
        /// The phone is not registered.
        case notFound
        case tooManyTopics
    }

    /// A phone's subscription to a topic.
    struct Subscription: Hashable, Sendable {
        let topic: String
        /// When it began.
        let created: UnixMilliseconds
    }

    /// FCM's limit for one installation of an app.
    static let maxTopics = 2_000

    /// Subscribes phones to a topic, starting with the next message.
    ///
    /// - Returns: One outcome for each token, in order.
    func subscribe(_ tokens: [String], to topic: String, now: UnixMilliseconds) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                return try database.subscribe(device, to: topic, now: now) ? .done(device: device) : .tooManyTopics
            }
        }
    }

    /// Ends phones' subscriptions to a topic. Messages that were accepted before still reach them.
    ///
    /// - Returns: One outcome for each token, in order.
    func unsubscribe(_ tokens: [String], from topic: String) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                try database.unsubscribe(device, from: topic)
                return .done(device: device)
            }
        }
    }
}

extension Database {
    /// The current subscription of a phone to a topic.
    func subscription(of device: Int64, to topic: String) throws -> EmulatorStore.Subscription? {
        let created = try UnixMilliseconds.fetchOne(
            cachedStatement(sql: "SELECT created FROM subscription WHERE device = ? AND topic = ? AND through IS NULL"),
            arguments: [device, topic])
        return created.map { .init(topic: topic, created: $0) }
    }

    /// Subscribes a phone, if it is not subscribed.
    ///
    /// - Returns: `false` if it has too many subscriptions.
    func subscribe(_ device: Int64, to topic: String, now: UnixMilliseconds) throws -> Bool {
        if try subscription(of: device, to: topic) != nil { return true }
        let count = try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM subscription WHERE device = ? AND through IS NULL"), arguments: [device])
        guard count ?? 0 < EmulatorStore.maxTopics else { return false }
        let statement = try cachedStatement(sql: "INSERT INTO subscription (device, topic, after, created) VALUES (?, ?, ?, ?)")
        try statement.execute(arguments: [device, topic, lastPosition(), now])
        return true
    }

    func unsubscribe(_ device: Int64, from topic: String) throws {
        let position = try lastPosition()
        // A subscription that covers no message is deleted.
        try execute(
            sql: "DELETE FROM subscription WHERE device = ? AND topic = ? AND through IS NULL AND after = ?",
            arguments: [device, topic, position])
        try execute(
            sql: "UPDATE subscription SET through = ? WHERE device = ? AND topic = ? AND through IS NULL",
            arguments: [position, device, topic])
    }
}
