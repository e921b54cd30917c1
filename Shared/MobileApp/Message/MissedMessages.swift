import FoundationEssentials
import GRDB
import JSON

/// Fetches what FCM did not bring: a data message whose pop-up was dismissed, messages from a long time offline, and texts that FCM
/// could not carry (seed, "Receive Messages", enhancement pending).
struct MissedMessages: Sendable {
    let hub: any HubConnection
    let database: AppDatabase
    let messages: Messages

    private static let path = "/message/since"
    private static let positionMemory = "position"
    /// A page with fewer messages is the last one.
    private static let fullPage = 100
    /// A hub that always has more would keep the phone busy for ever.
    private static let maxPages = 100

    /// Whether nothing was fetched yet: then a fetch brings this week's messages.
    func isFirst() async throws -> Bool {
        try await database.db.read { db in try db.memory(Self.positionMemory) == nil }
    }

    /// The maximum number of topics of a request (the hub's `POST /message/since`).
    private static let maxTopics = 800

    /// Fetches the messages of topics since the last time.
    ///
    /// - Returns: Whether a message was stored or completed.
    /// - Throws: ``HubFailure``, or the error of the connection. What came until then is stored.
    func fetch(_ topics: Set<String>) async throws -> Bool {
        let position = try await database.db.read { db in try db.memory(Self.positionMemory) }
        let found = try await fetch(topics, after: position)
        // Kept after the messages are stored: a message that comes again is dropped, but a skipped one would be lost.
        if let next = found.next { try await database.db.write { db in try db.keep(next, as: Self.positionMemory) } }
        return found.hasChanged
    }

    /// Fetches this week's messages of topics that the phone has just joined.
    func fetchWeek(_ topics: [String]) async throws -> Bool {
        try await fetch(Set(topics), after: nil).hasChanged
    }

    /// - Returns: Whether a message was stored or completed, and the position after all of them; `nil` if there are no topics.
    private func fetch(_ topics: Set<String>, after: String?) async throws -> (hasChanged: Bool, next: String?) {
        var (hasChanged, next) = (false, String?.none)
        // Sorted, so that phones with the same subscriptions send the same request.
        var rest = topics.sorted()[...]
        while !rest.isEmpty {
            let part = try await fetch(Array(rest.prefix(Self.maxTopics)), after: after)
            hasChanged = hasChanged || part.hasChanged
            // The first part was read first, so its position is the earliest one.
            next = next ?? part.next
            rest = rest.dropFirst(Self.maxTopics)
        }
        return (hasChanged, next)
    }

    private func fetch(_ topics: [String], after: String?) async throws -> (hasChanged: Bool, next: String) {
        var (position, hasChanged) = (after, false)
        for _ in 0..<Self.maxPages {
            var body: JSONValue = ["topics": .array(topics.map { .string($0) })]
            body["after"] = position.map { .string($0) }
            let answer = try await hub.document(of: HubRequest(.post, Self.path, body: body.data))
            guard let found = answer["messages"]?.elements, let next = answer["next"]?.string else {
                throw HubFailure.unreadable(Self.path)
            }
            var hasNew = false
            for element in found {
                guard let message = StoredMessage(document: element) else { throw HubFailure.unreadable(Self.path) }
                if try await messages.add(message) != .dropped { hasNew = true }
            }
            hasChanged = hasChanged || hasNew
            // The last page has the messages of the last minute again.
            if found.isEmpty || next == position || (!hasNew && position != nil && found.count < Self.fullPage) {
                return (hasChanged, next)
            }
            position = next
        }
        return (hasChanged, position ?? "")
    }
}

extension StoredMessage {
    /// Reads a message of the hub: the seed's seven data fields.
    fileprivate init?(document: JSONValue) {
        guard let members = document.members else { return nil }
        var data: [String: String] = [:]
        for member in members {
            switch member.value {
            case .string(let text), .number(let text): data[member.name] = text
            default: continue
            }
        }
        self.init(data: data)
    }
}
