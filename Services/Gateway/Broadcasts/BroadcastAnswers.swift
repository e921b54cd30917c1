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
    }

    /// There are few combinations of channels. More are answered as well, without being remembered.
    private static let maxEntries = 256
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter channels: The query's text: the key of the answer.
    func answer(
        to channels: String, _ identifiers: () -> Set<ObjectID>, from copy: BroadcastsCopy, now: UnixMilliseconds
    ) throws -> Encoded {
        let known = entries.withLock { $0[channels] }
        // A clock that was set back makes it older than the present, and so does nothing worse than another encoding.
        if let known, known.version == copy.version, now < known.until { return known.encoded }
        let active = copy.active(in: identifiers(), at: now)
        let encoded = Encoded(
            active: try Self.encode(active, at: copy.version),
            features: try Self.encode(FeatureSwitches(active), at: copy.version))
        let entry = Entry(version: copy.version, until: copy.nextChange(after: now) ?? .max, encoded: encoded)
        entries.withLock { entries in
            if entries.count >= Self.maxEntries, entries[channels] == nil { entries.removeAll() }
            entries[channels] = entry
        }
        return encoded
    }

    /// - Returns: The document, and an entity tag that is equal for equal documents.
    private static func encode(_ document: some Encodable, at version: Revision) throws -> (ByteBuffer, String) {
        let json = try JSONCoder.encode(document)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in json { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (ByteBuffer(bytes: json), "\"v\(version)-\(String(hash, radix: 16))\"")
    }
}
