import Schemas

/// The errors that the message log itself has for a component.
extension ComponentError {
    /// The code for a component whose relay gave no answer: FCM may have it.
    static let relayNoAnswer = "RELAY_NO_ANSWER"

    /// The deadline passed before a relay was asked.
    static let neverRelayed = ComponentError(
        class: .expired, code: "EXPIRED", message: "the deadline passed before the message was handed to a relay")

    /// No relay takes messages.
    ///
    /// - Parameter failure: What became of the attempt. FCM does not have the message.
    static func relayUnreachable(_ failure: CommandFailure) -> ComponentError {
        // A relay that has no FCM says so in its message, as the error that a component has for it elsewhere.
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
    /// - Returns: `nil` where no relay has judged it.
    init?(refusal failure: CommandFailure) {
        switch failure.status {
        case .overloaded, .unavailable, .storageFull, .deadlineExceeded, .ok: return nil
        case .internal: self.init(class: .retryable, code: "RELAY_INTERNAL", message: failure.message)
        case .invalid, .unauthenticated, .forbidden, .notFound, .conflict:
            self.init(class: .permanent, code: "RELAY_\(failure.status.rawValue.uppercased())", message: failure.message)
        }
    }
}
