import Schemas

/// Something that Google did not accept, and what that says about what else is to be sent.
struct SendFailure: Error, Hashable, Sendable {
    /// Whom the same trouble awaits.
    enum Scope: Hashable, Sendable {
        /// Nobody: it did not come to FCM's answer.
        case nobody
        /// Nobody else, as far as is known.
        case message
        /// The other messages to the same topic: it has had too many.
        case topic
        /// All of the project's: its quota is used up.
        case project
        /// All of the project's: FCM, or the way to it, fails.
        case service
    }

    let error: ComponentError
    let scope: Scope

    init(_ error: ComponentError, scope: Scope = .message) {
        self.error = error
        self.scope = scope
    }
}

extension SendFailure {
    /// It is too late.
    static let expired = SendFailure(.expired, scope: .nobody)

    static let unwritable = SendFailure(ComponentError(.invalidMessage))

    /// No access token: worth trying again, also when Google refuses the key, because an operator can mend that.
    init(_ failure: TokenFailure) {
        self.init(
            ComponentError(.oauth, failure.description, retryAfter: failure.retryAfter.map { max(1, $0.milliseconds) }),
            scope: .service)
    }

    /// No answer.
    ///
    /// - Parameter patience: For how long it was in the transport's hands. What FCM had next to no time for says nothing about the
    ///   service, nor does what was not sent in a short time: there was too much before it.
    init(_ error: TransportError, after patience: Duration) {
        let (code, scope): (RelayErrorCode, Scope) =
            switch error.code {
            case .notReachable, .reset, .other: (.network, .service)
            case .tls: (.tls, .service)
            case .timeout:
                (.timeout, patience >= .milliseconds(error.mayHaveBeenProcessed ? 500 : 5_000) ? .service : .nobody)
            case .tooLarge: (.badAnswer, .message)
            case .overloaded: (.overloaded, .nobody)
            case .cancelled, .stopped: (.stopping, .nobody)
            }
        let consequence = error.mayHaveBeenProcessed ? "; FCM may have accepted it" : ""
        self.init(ComponentError(code, error.description + consequence), scope: scope)
    }
}

extension ComponentError {
    static let expired = ComponentError(.expired, "the message's deadline has passed")
}
