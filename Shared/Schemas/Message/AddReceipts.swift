package import JSON
package import Time

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
    /// How many installations the hub remembers, since anyone can make up any number of them. Of more, those that have not reported for
    /// the longest time are forgotten; a report that they repeat counts twice.
    package static let maxInstallations = 200_000

    /// The random id of the app's installation. It names no person, and it is not stored with the messages.
    package let installation: ObjectID
    /// The number of the report: higher than that of the installation's former one.
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

/// How many phones have reported a message. Phones whose students do not want to report are not counted.
package struct MessageReceipts: Codable, Hashable, Sendable {
    /// The phones that it has arrived on.
    package var received: Int64
    /// The phones on which it was opened.
    package var opened: Int64

    package init(received: Int64, opened: Int64) {
        self.received = received
        self.opened = opened
    }
}
