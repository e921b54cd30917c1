import JSON

/// A position in the archive, which is sorted by timestamp and then `msi_key`: `<timestamp>-<msi_key>`.
///
/// It names the last message of a page. So pages neither repeat nor miss messages when new ones arrive, and old pages cost no
/// more than new ones.
package struct PageCursor: Hashable, Sendable {
    package let timestamp: UnixMilliseconds
    package let msiKey: ObjectID

    package init(timestamp: UnixMilliseconds, msiKey: ObjectID) {
        self.timestamp = timestamp
        self.msiKey = msiKey
    }

    /// Before all messages of a time, in ascending order.
    package init(before time: UnixMilliseconds) {
        self.init(timestamp: max(0, time), msiKey: Self.lowestKey)
    }

    private static let lowestKey = ObjectID(bytes: [UInt8](repeating: 0, count: 12)) ?? ObjectID()
}

extension PageCursor: Comparable {
    /// In ascending order: the earlier one is less.
    package static func < (one: PageCursor, other: PageCursor) -> Bool {
        (one.timestamp, one.msiKey) < (other.timestamp, other.msiKey)
    }
}

extension PageCursor: LosslessStringConvertible {
    package var description: String { "\(timestamp)-\(msiKey)" }

    package init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let timestamp = UnixMilliseconds(String(parts[0])),
            (0...maximumUnixMilliseconds).contains(timestamp),
            let msiKey = ObjectID(parts[1])
        else { return nil }
        self.init(timestamp: timestamp, msiKey: msiKey)
    }
}

extension PageCursor: TextCodable {
    package static var expected: String { "the \"next\" of another page" }
    package static var pattern: String { "^[0-9]{1,15}-[0-9A-Fa-f]{24}$" }
    package static var example: String { "1795262462399-6b0187feff0dafac2833f431" }
}
