import FoundationEssentials
import Base

/// A broadcast or a withdrawal as the data of an FCM message: the document's fields as strings, `actiondata` as JSON text.
package enum BroadcastPushData: Hashable, Sendable {
    case broadcast(PhoneBroadcast)
    case withdrawal(WithdrawnBroadcast)

    /// The topic of every phone (seed 004: 'users by default registered to one topic which can be called as "General"').
    package static let generalTopic = "general"

    package var data: [String: String] {
        get throws {
            switch self {
            case .withdrawal(let withdrawn):
                return [
                    "id": "\(withdrawn.id)", "version": "\(withdrawn.version)", "expires": "\(withdrawn.expires)",
                    "withdrawn": "true",
                ]
            case .broadcast(let broadcast):
                var data = [
                    "id": "\(broadcast.id)", "type": "\(broadcast.type.rawValue)", "epoch": broadcast.epoch.text,
                    "expiry": "\(broadcast.expiry)", "language": broadcast.language, "version": "\(broadcast.version)",
                    "starts": "\(broadcast.starts)", "expires": "\(broadcast.expires)",
                ]
                data["actiondata"] = String(decoding: try JSONCoder.encode(broadcast.actionData), as: UTF8.self)
                data["channels"] = broadcast.channels.map { $0.map(\.description).joined(separator: ",") }
                data["condition"] = broadcast.condition
                return data
            }
        }
    }

    /// The size by which FCM limits a message: the bytes of names and values.
    package var bytes: Int {
        get throws { try data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
    }

    /// Reads the data of a message that has reached the app.
    ///
    /// - Returns: `nil` if it is another message.
    /// - Throws: ``SchemaViolation`` if it is a broadcast that this version cannot read.
    package init?(_ data: [String: String]) throws {
        guard data["msi_key"] == nil, let id = data["id"], let version = data["version"],
            data["withdrawn"] != nil || data["actiondata"] != nil
        else { return nil }
        var document: JSONValue = ["id": .number(id), "version": .number(version)]
        if data["withdrawn"] == "true" {
            document["expires"] = .number(data["expires"] ?? "")
            self = .withdrawal(try JSONCoder.decode(from: try Self.checked(document)))
            return
        }
        for name in ["type", "expiry", "starts", "expires"] { document[name] = data[name].map { .number($0) } }
        for name in ["epoch", "language", "condition"] { document[name] = data[name].map { .string($0) } }
        document["channels"] = data["channels"].map { .array($0.split(separator: ",").map { .string(String($0)) }) }
        document["actiondata"] = try JSONValue(parsing: Data((data["actiondata"] ?? "").utf8))
        self = .broadcast(try JSONCoder.decode(from: try Self.checked(document)))
    }

    /// The document's JSON. Its numbers are texts of another program.
    private static func checked(_ document: JSONValue) throws -> Data {
        for member in document.members ?? [] {
            guard case .number(let text) = member.value, Int64(text) == nil else { continue }
            throw SchemaViolation(field: member.name, problem: "expected an integer")
        }
        return document.data
    }
}

/// The pop-up of a downtime: the system shows it while the app does not run, and the app makes a card of it when the person taps it, or at its
/// next start.
package struct BroadcastPopup: Hashable, Sendable {
    /// In the default language, since FCM brings the same text to every phone.
    package let texts: BroadcastActionData.Translation
    /// The broadcast without its other languages, its picture and its free-form data. It has the texts as well if they fit: Android gives
    /// the data to an app whose pop-up is tapped, and no texts.
    package let data: [String: String]
    /// The same for each version: a later one replaces the pop-up on the phone.
    package let tag: String

    /// Tells the data from that of the whole broadcast.
    private static let marker = "partial"

    /// - Parameter maxBytes: The maximum size of an FCM message.
    /// - Returns: `nil` if the broadcast has no pop-up.
    /// - Throws: An encoder's error.
    package init?(_ broadcast: PhoneBroadcast, maxBytes: Int) throws {
        guard broadcast.type == .downtime, broadcast.actionData.popup ?? true,
            let texts = broadcast.actionData.texts(in: broadcast.language, or: broadcast.language)
        else { return nil }
        self.texts = texts
        tag = Self.tag(of: broadcast.id)
        let full = try Self.data(broadcast, [broadcast.language: texts])
        data = try Self.bytes(texts, full) > maxBytes ? Self.data(broadcast, nil) : full
    }

    private static func data(
        _ broadcast: PhoneBroadcast, _ translations: [String: BroadcastActionData.Translation]?
    ) throws -> [String: String] {
        var part = broadcast
        part.actionData = BroadcastActionData(translations: translations, cancellable: broadcast.actionData.cancellable)
        var data = try BroadcastPushData.broadcast(part).data
        data[marker] = "true"
        return data
    }

    /// The size by which FCM limits a message: the names and values of its data and of its notification.
    private static func bytes(_ texts: BroadcastActionData.Translation, _ data: [String: String]) -> Int {
        let names = "title".utf8.count + "body".utf8.count
        return data.reduce(names + texts.title.utf8.count + texts.msg.utf8.count) {
            $0 + $1.key.utf8.count + $1.value.utf8.count
        }
    }

    package var bytes: Int { Self.bytes(texts, data) }

    /// Whether two versions tell a person the same: the second one needs no pop-up.
    ///
    /// - Returns: `false` if one of them has no pop-up.
    package static func isSame(_ broadcast: PhoneBroadcast, as other: PhoneBroadcast) -> Bool {
        guard let said = Said(broadcast), let otherSaid = Said(other) else { return false }
        return said == otherSaid
    }

    /// The text of a pop-up, and its recipients.
    private struct Said: Equatable {
        let texts: BroadcastActionData.Translation
        let language: String
        let starts: UnixMilliseconds
        let expires: UnixMilliseconds
        let channels: [ObjectID]?
        let condition: String?

        init?(_ broadcast: PhoneBroadcast) {
            guard broadcast.type == .downtime, broadcast.actionData.popup ?? true,
                let texts = broadcast.actionData.texts(in: broadcast.language, or: broadcast.language)
            else { return nil }
            self.texts = texts
            language = broadcast.language
            (starts, expires) = (broadcast.starts, broadcast.expires)
            (channels, condition) = (broadcast.channels, broadcast.condition)
        }
    }

    /// What names the pop-up of a broadcast on the phone.
    package static func tag(of id: Int64) -> String { tagPrefix + "\(id)" }

    /// The broadcast that a pop-up's tag names; `nil` for another tag.
    package static func id(ofTag tag: String) -> Int64? {
        tag.hasPrefix(tagPrefix) ? Int64(tag.dropFirst(tagPrefix.count)) : nil
    }

    private static let tagPrefix = "broadcast-"

    /// Whether a broadcast that has reached the app is only that of a pop-up. What is displayed always has texts.
    ///
    /// - Parameter data: The FCM message's.
    package static func isPart(_ broadcast: PhoneBroadcast, _ data: [String: String]) -> Bool {
        data[marker] != nil || broadcast.type != .nonDisplay && (broadcast.actionData.translations ?? [:]).isEmpty
    }

    /// The broadcast that a pop-up is about, in the one language that it has.
    ///
    /// - Parameters:
    ///   - part: The broadcast of the FCM message's data.
    ///   - notification: What the pop-up shows; `nil` if only the data has reached the app.
    /// - Returns: `nil` if neither has texts, or if phones make no card of it.
    package static func broadcast(
        _ part: PhoneBroadcast, _ notification: (title: String, body: String)?
    ) -> PhoneBroadcast? {
        guard part.type == .downtime else { return nil }
        var broadcast = part
        if let notification {
            broadcast.actionData.translations = [part.language: .init(title: notification.title, msg: notification.body)]
        }
        return (broadcast.actionData.translations ?? [:]).isEmpty ? nil : broadcast
    }
}
