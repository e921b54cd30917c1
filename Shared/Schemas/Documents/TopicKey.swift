import Base

/// The FCM topic of a subject: `<channel _id>-<area id>-<subject id>` (seed, "Data Dictionary", `topic_key`).
///
/// It never changes: phones are subscribed by it. If the subject is moved (`subject.move`), channel and area are those in which it was
/// added. Only the cube says where it is.
package struct TopicKey: Hashable, Sendable {
    package let channel: ObjectID
    package let area: ObjectID
    package let subject: ObjectID

    package init(channel: ObjectID, area: ObjectID, subject: ObjectID) {
        self.channel = channel
        self.area = area
        self.subject = subject
    }
}

extension TopicKey: LosslessStringConvertible {
    /// The length: three times 24 digits and two separators.
    private static let length = 74

    package var description: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            for (index, part) in [channel, area, subject].enumerated() {
                if index > 0 { buffer[25 * index - 1] = UInt8(ascii: "-") }
                part.write(into: UnsafeMutableBufferPointer(rebasing: buffer[(25 * index)...]))
            }
            return Self.length
        }
    }

    package init?(_ description: String) {
        var description = description
        guard let read = description.withUTF8({ Self(characters: $0) }) else { return nil }
        self = read
    }

    /// Reads the characters of one.
    package init?(characters: UnsafeBufferPointer<UInt8>) {
        func part(_ start: Int) -> ObjectID? { ObjectID(digits: UnsafeBufferPointer(rebasing: characters[start..<start + 24])) }
        guard characters.count == Self.length, characters[24] == UInt8(ascii: "-"), characters[49] == UInt8(ascii: "-"),
            let channel = part(0), let area = part(25), let subject = part(50)
        else { return nil }
        self.init(channel: channel, area: area, subject: subject)
    }
}

extension TopicKey: TextCodable {
    package static var expected: String { "a topic key: three ObjectIds joined by \"-\"" }
    package static var pattern: String { "^[0-9A-Fa-f]{24}-[0-9A-Fa-f]{24}-[0-9A-Fa-f]{24}$" }
    package static var example: String { "6b0187feff0dafac2833f431-6b0187feff0dafac2833f432-6b0187feff0dafac2833f433" }
}

/// A part of the cube: `<channel>`, `<channel>-<area>`, or a whole topic key.
package struct TopicPrefix: Hashable, Sendable {
    package let channel: ObjectID
    /// `nil` for the whole channel.
    package let area: ObjectID?
    /// `nil` for the whole area or channel.
    package let subject: ObjectID?

    package init(channel: ObjectID) {
        self.channel = channel
        area = nil
        subject = nil
    }

    package init(channel: ObjectID, area: ObjectID) {
        self.channel = channel
        self.area = area
        subject = nil
    }

    package init(_ topic: TopicKey) {
        channel = topic.channel
        area = topic.area
        subject = topic.subject
    }

    /// Whether a subject is in this part.
    package func contains(_ topic: TopicKey) -> Bool {
        channel == topic.channel && (area == nil || area == topic.area) && (subject == nil || subject == topic.subject)
    }

    /// Whether another part is in this one, or is the same.
    package func contains(_ part: TopicPrefix) -> Bool {
        channel == part.channel && (area == nil || area == part.area) && (subject == nil || subject == part.subject)
    }
}

extension TopicPrefix: TextCodable {
    package init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        let ids = parts.compactMap { ObjectID($0) }
        guard ids.count == parts.count, (1...3).contains(ids.count) else { return nil }
        channel = ids[0]
        area = ids.count > 1 ? ids[1] : nil
        subject = ids.count > 2 ? ids[2] : nil
    }

    package var description: String {
        [channel, area, subject].compactMap { $0?.description }.joined(separator: "-")
    }

    package static var expected: String { "a channel's ObjectId, also with an area's, also with a subject's, joined by \"-\"" }
    package static var pattern: String { "^[0-9A-Fa-f]{24}(-[0-9A-Fa-f]{24}){0,2}$" }
    package static var example: String { "6b0187feff0dafac2833f431-6b0187feff0dafac2833f432" }
}
