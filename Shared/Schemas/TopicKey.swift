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
    package var description: String { "\(channel)-\(area)-\(subject)" }

    package init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let channel = ObjectID(parts[0]), let area = ObjectID(parts[1]), let subject = ObjectID(parts[2])
        else { return nil }
        self.init(channel: channel, area: area, subject: subject)
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
