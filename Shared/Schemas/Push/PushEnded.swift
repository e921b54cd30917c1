/// The event `push.ended`: a push has ended. A subscriber that missed it can use `push.get`.
package struct PushEnded: Codable, Hashable, Sendable {
    package static let name = "push.ended"

    package let pushID: ObjectID
    package let sender: String
    package let idempotencyKey: String
    package let state: RelayState
    /// The tokens that FCM reports as unregistered. The sender should delete them.
    package let unregistered: [String]

    package init(_ push: Push) {
        pushID = push.id
        sender = push.sender
        idempotencyKey = push.idempotencyKey
        state = push.relay.state
        unregistered = push.unregistered
    }

    private enum CodingKeys: String, CodingKey {
        case pushID = "push_id"
        case idempotencyKey = "idempotency_key"
        case sender, state, unregistered
    }
}
