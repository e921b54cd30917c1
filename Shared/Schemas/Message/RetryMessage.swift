import JSON

/// `message.retry`: hands the failed components of a failed message to FCM once more.
///
/// A `conflict` for a message that has not failed, or that has expired meanwhile.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct RetryMessage: Command {
    package static let name = "message.retry"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}
