import Schemas

/// The message log's own errors, in addition to FCM's and the relay's.
extension DeliveryError {
    /// The deadline passed before a relay was asked.
    static let neverRelayed = DeliveryError(.expired, "the deadline passed before the message was handed to a relay")

    /// The deadline passed before the message was approved.
    static let neverApproved = DeliveryError(.expired, "the deadline passed before the message was approved")

    /// The deadline passed before it was released after a restore.
    static let neverReleased = DeliveryError(.expired, "the deadline passed before it was released after a restore from a backup")

    /// No relay takes messages.
    ///
    /// - Parameter failure: The failure of the attempt. FCM does not have the message.
    static func relayUnreachable(_ failure: CommandFailure) -> DeliveryError {
        // A relay that cannot reach FCM puts the component's error into its message.
        let prefix = RelayErrorCode.circuitOpen.rawValue + ": "
        if failure.status == .unavailable, failure.message.hasPrefix(prefix) {
            return DeliveryError(.circuitOpen, String(failure.message.dropFirst(prefix.count)))
        }
        return DeliveryError(failure.status == .overloaded ? .relayOverloaded : .relayUnreachable, failure.message)
    }

    /// A relay has refused a command as a whole.
    ///
    /// - Returns: `nil` if no relay has processed it.
    init?(refusal failure: CommandFailure) {
        let code: RelayErrorCode? =
            switch failure.status {
            case .overloaded, .unavailable, .storageFull, .deadlineExceeded, .ok: nil
            case .internal: .relayInternal
            case .invalid: failure.isUnknownCommand ? .relayTooOld : .relayInvalid
            case .unauthenticated: .relayUnauthenticated
            case .forbidden: .relayForbidden
            case .notFound: .relayNotFound
            case .conflict: .relayConflict
            }
        guard let code else { return nil }
        self.init(code, failure.message)
    }
}
