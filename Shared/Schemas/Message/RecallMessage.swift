import JSON

/// `message.recall`: takes back a message that has not gone out yet. The message stays in the archive, as recalled.
///
/// A `conflict` for a message that is on its way to FCM this moment, of which FCM has accepted a component, or whose end has
/// come.
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
