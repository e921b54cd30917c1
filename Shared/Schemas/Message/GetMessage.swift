import JSON

/// `message.get`: one message.
package struct GetMessage: Command {
    package static let name = "message.get"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}
