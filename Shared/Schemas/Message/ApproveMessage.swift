import JSON

/// `message.approve`: lets a held message go out, at its time if that is later.
///
/// It fails with `forbidden` if the actor is the message's sender, and with `conflict` if the message is not held or has expired.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct ApproveMessage: Command {
    package static let name = "message.approve"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}
