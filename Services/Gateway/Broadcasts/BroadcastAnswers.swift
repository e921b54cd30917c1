import FoundationEssentials
import JSON
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

    /// The maximum size of the remembered answers. Phones have few combinations of channels; more are answered as well.
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
        // A clock that was set back makes it older than the present, and so does nothing worse than another encoding.
        if let known, known.version == copy.version, now < known.until { return known.encoded }
        let active = copy.active(in: try identifiers(), at: now)
        let encoded = Encoded(active: try Self.encode(active), features: try Self.encode(FeatureSwitches(active)))
        remember(Entry(version: copy.version, until: copy.nextChange(after: now) ?? .max, encoded: encoded), for: query)
        return encoded
    }

    private func remember(_ entry: Entry, for query: String) {
        state.withLock { state in
            state.bytes += entry.bytes - (state.entries.updateValue(entry, forKey: query)?.bytes ?? 0)
            // Any other one: which of them phones ask for next is not known.
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
