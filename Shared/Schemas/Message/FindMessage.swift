package import JSON

/// `message.find`: the message that the header's `actor` posted with an idempotency key. The `actor` is required.
package struct FindMessage: Command, Checked {
    package static let name = "message.find"
    package typealias Reply = Message

    package let idempotencyKey: String

    package init(idempotencyKey: String) {
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
    }
}
