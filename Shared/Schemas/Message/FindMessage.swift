import JSON

/// `message.find`: the message that a sender posted with an idempotency key.
package struct FindMessage: Command {
    package static let name = "message.find"
    package typealias Reply = Message

    package let sender: String
    package let idempotencyKey: String

    package init(sender: String, idempotencyKey: String) {
        self.sender = sender
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case sender
        case idempotencyKey = "idempotency_key"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        sender = try fields.text(.sender, .sender)
        idempotencyKey = try fields.text(.idempotencyKey, .idempotencyKey)
    }
}
