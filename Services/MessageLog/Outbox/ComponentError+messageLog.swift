import Schemas

/// A component's errors from the message log itself.
extension ComponentError {
    /// The code for a lost answer of the relay. FCM may have the component.
    static let relayNoAnswer = "RELAY_NO_ANSWER"

    /// The deadline passed before a relay was asked.
    static let neverRelayed = ComponentError(
        class: .expired, code: "EXPIRED", message: "the deadline passed before the message was handed to a relay")

    /// No relay takes messages.
    ///
    /// - Parameter failure: The failure of the attempt. FCM does not have the message.
    static func relayUnreachable(_ failure: CommandFailure) -> ComponentError {
        // A relay that cannot reach FCM puts the component's error into its message.
        if failure.status == .unavailable, failure.message.hasPrefix(circuitOpen + ": ") {
            return ComponentError(
                class: .retryable, code: circuitOpen, message: String(failure.message.dropFirst(circuitOpen.count + 2)))
        }
        return ComponentError(
            class: .retryable, code: failure.status == .overloaded ? "RELAY_OVERLOADED" : "RELAY_UNREACHABLE",
            message: failure.message)
    }

    private static let circuitOpen = "CIRCUIT_OPEN"

    /// A relay has refused a message as a whole.
    ///
    /// - Returns: `nil` if no relay has processed it.
    init?(refusal failure: CommandFailure) {
        switch failure.status {
        case .overloaded, .unavailable, .storageFull, .deadlineExceeded, .ok: return nil
        case .internal: self.init(class: .retryable, code: "RELAY_INTERNAL", message: failure.message)
        case .invalid, .unauthenticated, .forbidden, .notFound, .conflict:
            self.init(class: .permanent, code: "RELAY_\(failure.status.rawValue.uppercased())", message: failure.message)
        }
    }
}
