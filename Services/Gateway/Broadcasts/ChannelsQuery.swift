import JSON
import Schemas

/// The query of phones about broadcasts: `?channel=5a…,5b…`.
struct ChannelsQuery: Decodable, Checked, Sendable {
    private let channel: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel
    }

    /// The channels of a whole campus.
    static let maxChannels = 200

    var identifiers: Set<ObjectID> { Set(parts.compactMap { ObjectID(String($0)) }) }

    private var parts: [Substring] { (channel ?? "").split(separator: ",") }

    func check() throws(SchemaViolation) {
        guard let channel else { return }
        // The longest text is cheaper to refuse than to split.
        guard channel.utf8.count <= Self.maxChannels * 25, parts.count <= Self.maxChannels else {
            throw SchemaViolation(CodingKeys.channel, "expected at most \(Self.maxChannels) channels")
        }
        guard identifiers.count == parts.count else {
            throw SchemaViolation(
                CodingKeys.channel, "expected different channels of 24 hexadecimal digits (ObjectIds), separated by commas")
        }
    }
}
