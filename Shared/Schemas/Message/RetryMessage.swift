import JSON

/// `message.retry`: sends the failed components of a failed message again.
///
/// It fails with `conflict` if the message has not failed or has expired.
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
