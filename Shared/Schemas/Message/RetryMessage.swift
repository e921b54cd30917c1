import JSON

/// `message.retry`: hands the failed components of a failed message to FCM once more.
///
/// A `conflict` for a message that has not failed, or that has expired meanwhile.
package struct RetryMessage: Command {
    package static let name = "message.retry"
    package typealias Reply = Message

    package let msiKey: ObjectID
    /// On whose behalf; it is kept with the message.
    package let by: String

    package init(msiKey: ObjectID, by: String) {
        self.msiKey = msiKey
        self.by = by
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case by
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        msiKey = try fields.value(.msiKey)
        by = try fields.text(.by, .sender)
    }
}
