import FoundationEssentials
import GRDB
import Base
import Schemas

/// Fetches what FCM did not bring: a data message whose pop-up was dismissed, messages from a long time offline, texts that FCM
/// could not carry (seed, "Receive Messages", enhancement pending), and Alerts that FCM does not accept, such as in an outage.
struct MissedMessages: Sendable {
    let hub: any HubConnection
    let notifications: any NotificationDisplay
    let database: AppDatabase
    let messages: Messages
    /// Called after each Alert that was removed because it was recalled.
    let recalled: @Sendable (StoredMessage) -> Void

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
    /// - Parameter failed: Called for each message that cannot be read. It is left out.
    /// - Throws: ``HubFailure``, or the error of the connection. What came until then is stored.
    func fetch(_ topics: Set<String>, failed: (any Error) -> Void) async throws {
        // The app may have ended before it showed them.
        try await showPopups()
        let position = try await database.db.read { db in try db.memory(Self.positionMemory) }
        let parts = Self.parts(topics)
        var ends: [String] = []
        for part in parts {
            ends.append(
                try await fetch(part, after: position, subscribed: topics, failed: failed) { next in
                    // Kept after the messages are stored: a message that comes again is dropped, but a skipped one would be lost.
                    if parts.count == 1 { try await keep(next) }
                })
        }
        // Parts are read one after another. None must miss what comes after its own end.
        if parts.count > 1, let end = Self.earliest(ends) { try await keep(end) }
    }

    /// Fetches this week's messages of topics.
    ///
    /// - Parameters:
    ///   - subscribed: The topics whose messages are added. Those of others only complete messages that the phone has.
    ///   - failed: As for ``fetch(_:failed:)``.
    func fetchWeek(_ topics: Set<String>, subscribed: Set<String>, failed: (any Error) -> Void) async throws {
        for part in Self.parts(topics) {
            _ = try await fetch(part, after: nil, subscribed: subscribed, failed: failed) { _ in }
        }
    }

    /// Sorted, so that phones with the same subscriptions send the same requests.
    private static func parts(_ topics: Set<String>) -> [ArraySlice<String>] {
        let sorted = topics.sorted()
        return stride(from: 0, to: sorted.count, by: maxTopics).map { sorted[$0..<min($0 + maxTopics, sorted.count)] }
    }

    /// - Returns: `nil` if the hub's positions cannot be compared. Then the stored one stays.
    private static func earliest(_ positions: [String]) -> String? {
        let cursors = positions.compactMap { PageCursor($0) }
        guard cursors.count == positions.count else { return nil }
        return cursors.min { ($0.timestamp, $0.msiKey.description) < ($1.timestamp, $1.msiKey.description) }?.description
    }

    private func keep(_ position: String) async throws {
        try await database.db.write { db in try db.keep(position, as: Self.positionMemory) }
    }

    /// - Parameter read: Called after each page, with the position after it.
    /// - Returns: The last position.
    private func fetch(
        _ topics: ArraySlice<String>, after: String?, subscribed: Set<String>, failed: (any Error) -> Void,
        read: (_ next: String) async throws -> Void
    ) async throws -> String {
        var position = after
        for _ in 0..<Self.maxPages {
            var body: JSONValue = ["topics": .array(topics.map { .string($0) })]
            body["after"] = position.map { .string($0) }
            let answer = try await hub.document(of: HubRequest(.post, Self.path, body: body.data))
            guard let found = answer["messages"]?.elements, let next = answer["next"]?.string else {
                throw HubFailure.unreadable(Self.path)
            }
            var hasNew = false
            for element in found {
                guard let message = StoredMessage(document: element) else {
                    failed(HubFailure.unreadable(Self.path))
                    continue
                }
                let isSubscribed = subscribed.contains(message.topicKey)
                if try await messages.addMissed(message, isSubscribed: isSubscribed) != .dropped { hasNew = true }
            }
            try await takeAlerts(of: answer, subscribed: subscribed, failed: failed)
            try await read(next)
            // The last page has the messages of the last minute again.
            if found.isEmpty || next == position || (!hasNew && position != nil && found.count < Self.fullPage) { return next }
            position = next
        }
        return position ?? ""
    }

    /// Takes over the Alerts beside the last page: shows those that wait for FCM, and removes those that were recalled.
    private func takeAlerts(of answer: JSONValue, subscribed: Set<String>, failed: (any Error) -> Void) async throws {
        let recalledKeys = answer["recalled"]?.elements?.compactMap(\.string) ?? []
        if !recalledKeys.isEmpty {
            for alert in try await messages.removeRecalled(recalledKeys) {
                await notifications.remove(tag: alert.popupTag)
                recalled(alert)
            }
        }
        for element in answer["waiting"]?.elements ?? [] {
            guard let alert = StoredMessage(document: element) else {
                failed(HubFailure.unreadable(Self.path))
                continue
            }
            // An answer may still have an Alert that it also tells to be recalled.
            guard !recalledKeys.contains(alert.msiKey) else { continue }
            let isSubscribed = subscribed.contains(alert.topicKey)
            if try await messages.addWaiting(alert, isSubscribed: isSubscribed) == .added { try await showPopups() }
        }
    }

    /// FCM has brought no pop-up of these Alerts, so the operating system shows none, whether or not the app is in the foreground.
    private func showPopups() async throws {
        try await messages.showPendingPopups { alert in
            await notifications.show(
                PushMessage.Notification(title: alert.title, body: alert.desc, tag: alert.popupTag), tag: alert.popupTag,
                data: ["msi_key": alert.msiKey])
        }
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
