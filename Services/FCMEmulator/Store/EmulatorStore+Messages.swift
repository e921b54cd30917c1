import Store
import FoundationEssentials
import GRDB
import Schemas

extension EmulatorStore {
    /// An accepted message that is about to be stored.
    struct Accepted: Sendable {
        let name: String
        let target: SendRequest.Target
        let component: SentComponent?
        let received: UnixMilliseconds
        let expires: UnixMilliseconds
        /// The key whose earlier pending message this one replaces; `nil` if the message does not wait for the phone, or has no key.
        let collapseKey: String?
        /// The request's body, byte for byte.
        let body: [UInt8]
    }

    /// The recipients of a stored message, whose open streams are woken.
    enum Recipients: Hashable, Sendable {
        case topic(String)
        case devices([Int64])
    }

    /// Counts a message. Stores it if the archive keeps messages or a phone waits for it. Returns after the commit.
    ///
    /// - Parameter keep: How many messages the archive keeps.
    /// - Returns: Its recipients, or `nil` if its only recipient is not registered. Then nothing is stored.
    func accept(_ message: Accepted, keeping keep: Int) async throws -> Recipients? {
        try await database.write { database in
            guard let recipients = try database.recipients(of: message.target) else { return nil }
            try database.count(message.component)
            guard try keep > 0 || database.isAwaited(by: recipients) else { return recipients }
            let position = try database.insert(message, for: recipients)
            try database.trimArchive(keeping: keep, after: position)
            return recipients
        }
    }

    /// The phones to which a message is fanned out.
    ///
    /// - Returns: Their row ids in ascending order; none for a message to a single phone.
    func phones(of target: SendRequest.Target) async throws -> [Int64] {
        switch target {
        case .topic(let topic):
            try await database.read { database in
                let statement = try database.cachedStatement(
                    sql: "SELECT device FROM subscription WHERE topic = ? AND through IS NULL ORDER BY device")
                return try Int64.fetchAll(statement, arguments: [topic])
            }
        case .condition(let condition): try await database.read { try $0.devices(for: condition) }
        case .token, .installation: []
        }
    }

    /// A stored message.
    struct Stored: Sendable {
        let position: Int64
        let name: String
        /// `nil` for a message that was addressed to a phone or to a condition.
        let topic: String?
        let received: UnixMilliseconds
        let expires: UnixMilliseconds
        let body: [UInt8]
    }

    /// A batch of the messages that wait for a phone.
    struct Waiting: Sendable {
        /// In the order in which they were accepted.
        let messages: [Stored]
        /// The position up to which everything was examined.
        let through: Int64
        let mayHaveMore: Bool
    }

    /// The next messages for a phone.
    ///
    /// - Parameters:
    ///   - position: The phone has received everything up to here.
    ///   - backlog: The messages that waited when its stream was opened.
    /// - Returns: `nil` if the phone is no longer registered.
    func waiting(
        for device: Int64, after position: Int64, backlog: Backlog, now: UnixMilliseconds, limit: Int
    ) async throws -> Waiting? {
        try await database.read { database in
            guard
                try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT * FROM device WHERE id = ?)", arguments: [device]) == true
            else { return nil }
            let last = try database.lastPosition()
            guard last > position else { return Waiting(messages: [], through: last, mayHaveMore: false) }
            var found: [Int64: Stored] = [:]
            let subscriptions = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT topic, after, through FROM subscription WHERE device = ? AND (through IS NULL OR through > ?)"),
                arguments: [device, position])
            for subscription in subscriptions {
                let topic: String = subscription["topic"]
                let messages = try Stored.fetch(
                    database.cachedStatement(
                        sql: """
                            SELECT * FROM message WHERE topic = ? AND position > ? AND position <= ?
                            AND (expires > ? OR position > ?) AND (collapse_key IS NULL OR position > ? OR position IN (?, ?, ?, ?))
                            ORDER BY position LIMIT ?
                            """),
                    [topic, max(position, subscription["after"]), subscription["through"] ?? last, now, backlog.through]
                        + backlog.arguments + [limit])
                for message in messages { found[message.position] = message }
            }
            let addressed = try Stored.fetch(
                database.cachedStatement(
                    sql: """
                        SELECT message.* FROM addressed JOIN message USING (position)
                        WHERE device = ? AND position > ? AND (expires > ? OR position > ?)
                        AND (collapse_key IS NULL OR position > ? OR position IN (?, ?, ?, ?)) ORDER BY position LIMIT ?
                        """),
                [device, position, now, backlog.through] + backlog.arguments + [limit])
            for message in addressed { found[message.position] = message }

            let messages = Array(found.values.sorted { $0.position < $1.position }.prefix(limit))
            // After a full batch there may be further messages before the end.
            let isFull = messages.count == limit
            return Waiting(messages: messages, through: isFull ? messages[limit - 1].position : last, mayHaveMore: isFull)
        }
    }
}

extension EmulatorStore.Stored {
    fileprivate init(_ row: Row) {
        position = row["position"]
        name = row["name"]
        topic = row["topic"]
        received = row["received"]
        expires = row["expires"]
        let stored: Data = row["body"]
        body = Array(stored)
    }

    static func fetch(_ statement: Statement, _ arguments: StatementArguments) throws -> [Self] {
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var messages: [Self] = []
        while let row = try rows.next() { messages.append(Self(row)) }
        return messages
    }
}

extension Database {
    /// The recipients of a message; `nil` if its only recipient is not registered.
    fileprivate func recipients(of target: SendRequest.Target) throws -> EmulatorStore.Recipients? {
        switch target {
        case .topic(let topic):
            return .topic(topic)
        case .token(let token):
            return try device(withToken: token).map { .devices([$0]) }
        case .installation(let id):
            return try device(withInstallation: id).map { .devices([$0]) }
        case .condition(let condition):
            return .devices(try devices(for: condition))
        }
    }

    fileprivate func isAwaited(by recipients: EmulatorStore.Recipients) throws -> Bool {
        switch recipients {
        case .topic(let topic): try hasSubscriber(topic)
        case .devices(let devices): !devices.isEmpty
        }
    }

    /// - Returns: The message's position.
    fileprivate func insert(
        _ message: EmulatorStore.Accepted, for recipients: EmulatorStore.Recipients
    ) throws -> Int64 {
        let topic: String? = if case .topic(let name) = recipients { name } else { nil }
        let statement = try cachedStatement(
            sql: "INSERT INTO message (name, topic, received, expires, body, collapse_key) VALUES (?, ?, ?, ?, ?, ?)")
        try statement.execute(
            arguments: [
                message.name, topic, message.received, message.expires, Data(message.body), message.collapseKey,
            ])
        let position = lastInsertedRowID
        guard case .devices(let devices) = recipients else { return position }
        let address = try cachedStatement(sql: "INSERT INTO addressed (device, position) VALUES (?, ?)")
        for device in devices { try address.execute(arguments: [device, position]) }
        return position
    }

    /// The phones for which a condition holds now.
    fileprivate func devices(for condition: TopicCondition) throws -> [Int64] {
        var topics: [Int64: Set<String>] = [:]
        for topic in condition.topics {
            let devices = try Int64.fetchAll(
                self, sql: "SELECT device FROM subscription WHERE topic = ? AND through IS NULL", arguments: [topic])
            for device in devices { topics[device, default: []].insert(topic) }
        }
        if condition.holds(for: { _ in false }) {
            // The condition can hold for phones without a subscription, so every phone is checked.
            for device in try Int64.fetchAll(self, sql: "SELECT id FROM device") where topics[device] == nil {
                topics[device] = []
            }
        }
        return topics.filter { device in condition.holds { device.value.contains($0) } }.keys.sorted()
    }
}

extension EmulatorStore {
    /// The messages that waited for a phone when its stream was opened.
    struct Backlog: Hashable, Sendable {
        /// FCM's maximum number of collapse keys for one phone.
        static let maxKeys = 4

        /// Messages after this position were accepted while the phone was connected. It gets them even if they have expired
        /// since: a time to live of 0 means now or never.
        let through: Int64
        /// The remaining messages up to ``through`` that have a collapse key: the newest message of each of the newest keys.
        let kept: [Int64]
    }

    /// Finds the messages that wait for a phone.
    ///
    /// - Parameter position: The phone has received everything up to here.
    func backlog(for device: Int64, after position: Int64, through last: Int64) async throws -> Backlog {
        try await database.read { database in
            // The newest message by key. It has replaced the earlier ones even if it has expired since.
            var newest: [String: Int64] = [:]
            let subscriptions = try Row.fetchAll(
                database,
                sql: "SELECT topic, after, through FROM subscription WHERE device = ? AND (through IS NULL OR through > ?)",
                arguments: [device, position])
            let ofTopic = try database.cachedStatement(
                sql: """
                    SELECT position, collapse_key FROM message
                    WHERE topic = ? AND position > ? AND position <= ? AND collapse_key IS NOT NULL ORDER BY position DESC
                    """)
            for subscription in subscriptions {
                let topic: String = subscription["topic"]
                try newest.keep(
                    from: ofTopic,
                    [topic, max(position, subscription["after"]), min(last, subscription["through"] ?? last)])
            }
            let addressed = try database.cachedStatement(
                sql: """
                    SELECT position, collapse_key FROM addressed JOIN message USING (position)
                    WHERE device = ? AND position > ? AND position <= ? AND collapse_key IS NOT NULL ORDER BY position DESC
                    """)
            try newest.keep(from: addressed, [device, position, last])
            return Backlog(through: last, kept: Array(newest.values.sorted(by: >).prefix(Backlog.maxKeys)))
        }
    }
}

extension EmulatorStore.Backlog {
    /// The arguments for `position > ? OR position IN (?, ?, ?, ?)`, padded with 0, which is not a position.
    var arguments: StatementArguments {
        StatementArguments([through] + kept + Array(repeating: 0, count: Self.maxKeys - kept.count))
    }
}

extension [String: Int64] {
    /// Adds the newest message of each key until there are enough keys.
    fileprivate mutating func keep(from statement: Statement, _ arguments: StatementArguments) throws {
        var seen: Set<String> = []
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while seen.count < EmulatorStore.Backlog.maxKeys, let row = try rows.next() {
            let key: String = row["collapse_key"]
            guard seen.insert(key).inserted else { continue }
            self[key] = Swift.max(self[key] ?? 0, row["position"])
        }
    }
}
