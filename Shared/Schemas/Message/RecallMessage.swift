import JSON

/// `message.recall`: takes back a message that has not gone out yet. The message stays in the archive, as recalled.
///
/// A `conflict` for a message that is on its way to FCM this moment, of which FCM has accepted a component, or whose end has
/// come.
package struct RecallMessage: Command {
    package static let name = "message.recall"
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
