import Base
import Schemas
import TestSupport

/// A send of a push, from the emulator's archive.
struct PushSend: Hashable, Sendable {
    /// One push to one recipient.
    struct Place: Hashable, Sendable {
        /// The push's idempotency key.
        let key: String
        let recipient: PushRecipient
    }

    /// The field of FCM's data with the push's idempotency key.
    static let keyName = "push"

    let place: Place
    /// FCM's name for it.
    let name: String
    /// When FCM accepted it, in Unix milliseconds.
    let received: Int64
}

extension FCMServer {
    /// The accepted sends of pushes, in order.
    func acceptedPushes() async throws -> [PushSend] {
        try await acceptedSends().compactMap { send in
            guard let message = send["body"]?["message"], let key = message["data"]?[PushSend.keyName]?.string else { return nil }
            let recipient = PushRecipient.Field.allCases.compactMap { field in
                message[field.rawValue]?.string.map { PushRecipient(field, $0) }
            }
            guard let recipient = recipient.first, let name = send["name"]?.string, let received = send["received_at"]?.integer
            else { throw TooLate("\(send) is not what the relay sends") }
            return PushSend(place: .init(key: key, recipient: recipient), name: name, received: Int64(received))
        }
    }
}
