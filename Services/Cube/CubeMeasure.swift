import Schemas
import Store
import Synchronization

/// The measure of all channels, among the fields of the state. An edit updates it by the channels that it changes.
struct CubeMeasure: Codable, Sendable {
    /// As ``CubeSize``, of the readable channels.
    private(set) var size: Int64 = 0
    /// The ``digest`` as a stored number.
    private var channels = Int64(bitPattern: CubeDigest.empty.value)
    /// The sum of the fingerprints of all documents, also of unreadable ones. If it differs from that of the documents, another program
    /// has changed them.
    private var documents: Int64 = 0
    /// At least the greatest position.
    private(set) var lastPosition: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case size, documents
        case channels = "digest"
        case lastPosition = "last_position"
    }

    init() {}

    /// - Parameter channel: `nil` if the document cannot be read.
    fileprivate init(of channel: StoredChannel?, fingerprint: UInt64) throws {
        documents = Int64(bitPattern: fingerprint)
        guard let channel else { return }
        size = try CubeSize.of(channel.channel)
        channels = Int64(bitPattern: try CubeDigest(of: [channel.channel]).value)
        lastPosition = channel.position ?? 0
    }

    static func += (cube: inout CubeMeasure, channel: CubeMeasure) {
        cube.size &+= channel.size
        cube.channels &+= channel.channels
        cube.documents &+= channel.documents
        cube.lastPosition = max(cube.lastPosition, channel.lastPosition)
    }

    static func -= (cube: inout CubeMeasure, channel: CubeMeasure) {
        cube.size &-= channel.size
        cube.channels &-= channel.channels
        cube.documents &-= channel.documents
    }

    var digest: CubeDigest { CubeDigest(value: UInt64(bitPattern: channels)) }

    /// Whether both are measures of the same documents.
    func hasSameDocuments(as other: CubeMeasure) -> Bool { documents == other.documents }

    /// Whether both are measures of the same documents by the same version of the program: another one may know other fields.
    func isSame(as other: CubeMeasure) -> Bool {
        hasSameDocuments(as: other) && size == other.size && channels == other.channels
    }
}

/// The measures of channels by the fingerprints of their documents, so that no channel is encoded as JSON again.
final class ChannelMeasures: Sendable {
    private let known = Mutex<[UInt64: CubeMeasure]>([:])
    /// With more measures than this all are forgotten: those of refused edits stay otherwise.
    private static let maxKnown = 10_000

    /// The measure of all stored channels.
    func measure(_ documents: [UnreadDocument<StoredChannel>]) throws -> CubeMeasure {
        var cube = CubeMeasure()
        var measures: [UInt64: CubeMeasure] = [:]
        for document in documents {
            let measure = try measure(document.fingerprint, of: document.read)
            measures[document.fingerprint] = measure
            cube += measure
        }
        // No others are there any more.
        known.withLock { [measures] in $0 = measures }
        return cube
    }

    /// Replaces a channel in the measure of the cube.
    ///
    /// - Parameters:
    ///   - old: The channel as it was read; `nil` for a new one.
    ///   - new: `nil` for a removed one.
    func replace(_ old: StoredChannel?, by new: Stored<StoredChannel>?, in cube: inout CubeMeasure) throws {
        if let old {
            let fingerprint = try old.fingerprint
            cube -= try measure(fingerprint) { old }
            known.withLock { $0[fingerprint] = nil }
        }
        if let new { cube += try measure(new.fingerprint) { new.document } }
    }

    private func measure(_ fingerprint: UInt64, of read: () throws -> StoredChannel?) throws -> CubeMeasure {
        if let measure = known.withLock({ $0[fingerprint] }) { return measure }
        let measure = try CubeMeasure(of: read(), fingerprint: fingerprint)
        known.withLock { known in
            if known.count >= Self.maxKnown { known = [:] }
            known[fingerprint] = measure
        }
        return measure
    }
}
