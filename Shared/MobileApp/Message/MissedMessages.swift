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
    /// A hub that always has more would keep the phone busy for ever.
    private static let maxPages = 100

    /// Whether nothing was fetched yet: then a fetch brings this week's messages.
    func isFirst() async throws -> Bool {
        try await database.db.read { db in try db.memory(Self.positionMemory) == nil }
    }

    /// Fetches the messages of topics since the last time.
    ///
    /// - Returns: Whether a message was stored or completed.
    /// - Throws: ``HubFailure``, or the error of the connection. What came until then is stored.
    func fetch(_ topics: Set<String>) async throws -> Bool {
        let position = try await database.db.read { db in try db.memory(Self.positionMemory) }
        return try await fetch(topics, after: position) { next in
            try await database.db.write { db in try db.keep(next, as: Self.positionMemory) }
        }
    }

    /// Fetches this week's messages of topics that the phone has just joined.
    func fetchWeek(_ topics: [String]) async throws -> Bool {
        try await fetch(Set(topics), after: nil) { _ in }
    }

    private func fetch(_ topics: Set<String>, after: String?, _ keep: (String) async throws -> Void) async throws -> Bool {
        guard !topics.isEmpty else { return false }
        var position = after
        var hasChanged = false
        for _ in 0..<Self.maxPages {
            var body: JSONValue = ["topics": .array(topics.sorted().map { .string($0) })]
            body["after"] = position.map { .string($0) }
            let answer = try await hub.document(of: HubRequest(.post, Self.path, body: body.data))
            guard let found = answer["messages"]?.elements, let next = answer["next"]?.string else {
                throw HubFailure.unreadable(Self.path)
            }
            for element in found {
                guard let message = StoredMessage(document: element) else { throw HubFailure.unreadable(Self.path) }
                if try await messages.add(message) != .dropped { hasChanged = true }
            }
            // Kept after the page's messages are stored: a message that comes again is dropped, but a skipped one would be lost.
            try await keep(next)
            if found.isEmpty || next == position { break }
            position = next
        }
        return hasChanged
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
