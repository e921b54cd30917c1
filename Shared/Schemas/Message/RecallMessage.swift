import JSON

/// `message.recall`: recalls a message that has not gone out. The message stays in the archive, as recalled.
///
/// It fails with `conflict` if the message is being relayed or has ended, or if FCM has accepted one of its components.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct RecallMessage: Command {
    package static let name = "message.recall"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}
