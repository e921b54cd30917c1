import FoundationEssentials
import JSON

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
