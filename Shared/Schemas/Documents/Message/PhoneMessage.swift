import Base

/// A message as phones have it: the seed's seven data fields ("Message Format"), for a correction what it corrects, and its main link if
/// it has one.
package struct PhoneMessage: Codable, Hashable, Sendable {
    package let msiKey: ObjectID
    package let topicKey: TopicKey
    package let distribution: Distribution
    package let title: String
    package let desc: String
    package let message: String
    package let timestamp: UnixMilliseconds
    /// The message that it corrects.
    package let corrects: ObjectID?
    /// What the message is about, for the phone to open.
    package var link: String?

    private enum CodingKeys: String, CodingKey {
        case title, desc, message, timestamp, corrects, link
        case msiKey = "msi_key"
        case topicKey = "topic_key"
        case distribution = "dist"
    }

    package init(
        msiKey: ObjectID, topicKey: TopicKey, distribution: Distribution, title: String, desc: String, message: String,
        timestamp: UnixMilliseconds, corrects: ObjectID? = nil, link: String? = nil
    ) {
        self.msiKey = msiKey
        self.topicKey = topicKey
        self.distribution = distribution
        self.title = title
        self.desc = desc
        self.message = message
        self.timestamp = timestamp
        self.corrects = corrects
        self.link = link
    }

    package init(_ content: MessageContent, msiKey: ObjectID, timestamp: UnixMilliseconds) {
        self.init(
            msiKey: msiKey, topicKey: content.topicKey, distribution: content.distribution, title: content.title,
            desc: content.desc, message: content.message, timestamp: timestamp, corrects: content.corrects,
            link: content.options?.link)
    }
}

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
