import FoundationEssentials
import Base
import NIOCore
import Schemas
import Synchronization

/// The encoded answers for phones, by the channels that they ask for. Phones of the same channels get the same bytes, until a broadcast
/// changes, begins or ends.
final class BroadcastAnswers: Sendable {
    struct Encoded: Sendable {
        let active: (json: ByteBuffer, tag: String)
        let features: (json: ByteBuffer, tag: String)
    }

    private struct Entry {
        let version: Revision
        let until: UnixMilliseconds
        let encoded: Encoded

        var bytes: Int { encoded.active.json.readableBytes + encoded.features.json.readableBytes }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var bytes = 0
    }

    /// The maximum size of the remembered answers. Phones have few combinations of channels; further ones are still answered.
    private let maxBytes: Int
    private let state = Mutex(State())

    init(maxBytes: Int = 16 << 20) {
        self.maxBytes = maxBytes
    }

    /// - Parameters:
    ///   - query: The query's text: the key of the answer.
    ///   - identifiers: Reads the channels; called only if there is no answer yet.
    func answer(
        to query: String, _ identifiers: () throws -> Set<ObjectID>, from copy: BroadcastsCopy, now: UnixMilliseconds
    ) throws -> Encoded {
        let known = state.withLock { $0.entries[query] }
        // If the clock was set back, the answer may be for a later time than now, which does no harm.
        if let known, known.version == copy.version, now < known.until { return known.encoded }
        let active = copy.active(in: try identifiers(), at: now)
        let encoded = Encoded(active: try Self.encode(active), features: try Self.encode(FeatureSwitches(active)))
        remember(Entry(version: copy.version, until: copy.nextChange(after: now) ?? .max, encoded: encoded), for: query)
        return encoded
    }

    private func remember(_ entry: Entry, for query: String) {
        state.withLock { state in
            state.bytes += entry.bytes - (state.entries.updateValue(entry, forKey: query)?.bytes ?? 0)
            // Removes an arbitrary other entry: it is unknown which ones phones will ask for.
            while state.bytes > maxBytes, let other = state.entries.keys.first(where: { $0 != query }) {
                state.bytes -= state.entries.removeValue(forKey: other)?.bytes ?? 0
            }
        }
    }

    /// - Returns: The document, and an entity tag that is equal for equal documents.
    private static func encode(_ document: some Encodable) throws -> (ByteBuffer, String) {
        let json = try JSONCoder.encode(document)
        return (ByteBuffer(bytes: json), json.entityTag)
    }
}

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
        // Refusing a text that is too long is cheaper than splitting it.
        guard channel.utf8.count <= Self.maxChannels * 25, parts.count <= Self.maxChannels else {
            throw SchemaViolation(CodingKeys.channel, "expected at most \(Self.maxChannels) channels")
        }
        guard identifiers.count == parts.count else {
            throw SchemaViolation(
                CodingKeys.channel, "expected different channels of 24 hexadecimal digits (ObjectIds), separated by commas")
        }
    }
}
