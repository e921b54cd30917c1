import JSON

/// The FCM topic of a subject: `<channel _id>-<area id>-<subject id>` (seed, "Data Dictionary", `topic_key`).
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
    init?(characters: UnsafeBufferPointer<UInt8>) {
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
