package import Base

/// `message.receipts`: a phone reports which messages it has received, and which of them its student has opened.
///
/// A phone numbers its reports. A report that is repeated, since its answer was lost, counts once.
package struct AddReceipts: Command, Checked, Hashable {
    package static let name = "message.receipts"
    package typealias Reply = Done

    /// The maximum number of messages of a report, received and opened together.
    package static let maxMessages = 200
    /// How long the hub remembers the number of an installation's last report. A phone does not repeat older reports.
    package static let memory: Milliseconds = 9 * 86_400_000
    /// How many installations the hub remembers, since anyone can make up any number of them. Beyond that, those with the oldest last report
    /// are forgotten; a report that they repeat counts twice.
    package static let maxInstallations = 200_000

    /// The random id of the app's installation. It names no person, and it is not stored with the messages.
    package let installation: ObjectID
    /// The number of the report: higher than that of the installation's previous one.
    package let report: Int64
    /// Messages that have arrived on the phone.
    package let received: [ObjectID]
    /// Messages that were opened there.
    package let opened: [ObjectID]

    package init(installation: ObjectID, report: Int64, received: [ObjectID], opened: [ObjectID]) {
        self.installation = installation
        self.report = report
        self.received = received
        self.opened = opened
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case installation, report, received, opened
    }

    /// The messages that it names.
    package var messages: Set<ObjectID> { Set(received).union(opened) }

    package func check() throws(SchemaViolation) {
        try (1...Int64.max).check(report, CodingKeys.report)
        let count = received.count + opened.count
        guard (1...Self.maxMessages).contains(count) else {
            throw SchemaViolation(
                CodingKeys.received, "expected 1 to \(Self.maxMessages) messages with those of opened, found \(count)")
        }
    }
}

/// `message.reach`: what the archive knows of how many phones a message to a topic reaches.
package struct ReadReach: Command, Hashable {
    package static let name = "message.reach"

    package struct Reply: Codable, Hashable, Sendable {
        /// Of the topic's newest messages, the one that the most phones have received within ``recency``, or else the newest one that
        /// any phone has received. `nil` if phones have reported none.
        package let counted: ReceivedMessage?
        /// How many installations of the students' app have reported within ``AddReceipts/memory``, with whatever topics.
        package let installations: Int

        package init(counted: ReceivedMessage?, installations: Int) {
            self.counted = counted
            self.installations = installations
        }
    }

    /// How many of the topic's newest messages are looked at, so that the cost does not grow with the archive.
    package static let maxMessages = 50
    /// How long a received message counts for the number of subscribed phones.
    package static let recency: Milliseconds = 30 * 86_400_000

    package let topicKey: TopicKey

    package init(topicKey: TopicKey) {
        self.topicKey = topicKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topicKey = "topic_key"
    }
}

/// A message that phones have reported as received.
package struct ReceivedMessage: Codable, Hashable, Sendable {
    package let msiKey: ObjectID
    package let timestamp: UnixMilliseconds
    /// The number of phones.
    package let received: Int64

    private enum CodingKeys: String, CodingKey {
        case received, timestamp
        case msiKey = "msi_key"
    }

    package init(msiKey: ObjectID, timestamp: UnixMilliseconds, received: Int64) {
        self.msiKey = msiKey
        self.timestamp = timestamp
        self.received = received
    }
}
