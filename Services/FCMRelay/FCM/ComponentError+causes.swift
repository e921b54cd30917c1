import Schemas

extension ComponentError {
    /// It is too late.
    static let expired = ComponentError(class: .expired, code: "EXPIRED", message: "the message's deadline has passed")

    /// No access token: worth trying again, also when Google refuses the key, because an operator can mend that.
    init(_ failure: TokenFailure) {
        self.init(
            class: .retryable, code: "OAUTH", message: failure.description,
            retryAfter: failure.retryAfter.map { max(1, $0.milliseconds) })
    }

    /// No answer from FCM.
    init(_ error: TransportError) {
        let code =
            switch error.code {
            case .notReachable, .reset, .other: "NETWORK"
            case .tls: "TLS"
            case .timeout: "TIMEOUT"
            case .tooLarge: FCMAnswer.badAnswer
            case .overloaded: "OVERLOADED"
            case .cancelled, .stopped: "STOPPING"
            }
        let consequence = error.mayHaveBeenProcessed ? "; FCM may have accepted the message" : ""
        self.init(class: .retryable, code: code, message: error.description + consequence)
    }
}
