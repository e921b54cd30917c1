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
    /// Three times 24 digits, and what joins them.
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
        let parts = description.withUTF8 { utf8 -> [ObjectID] in
            guard utf8.count == Self.length, utf8[24] == UInt8(ascii: "-"), utf8[49] == UInt8(ascii: "-") else { return [] }
            return [0, 25, 50].compactMap { ObjectID(digits: UnsafeBufferPointer(rebasing: utf8[$0..<$0 + 24])) }
        }
        guard parts.count == 3 else { return nil }
        self.init(channel: parts[0], area: parts[1], subject: parts[2])
    }
}

extension TopicKey: Codable {
    package init(from decoder: any Decoder) throws {
        self = try decoder.losslessString(expected: "a topic key: three ObjectIds joined by \"-\"")
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
