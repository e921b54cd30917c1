import HTTPTransport
import Schemas
import Base

/// The failure of one send, and which other sends it affects.
struct SendFailure: Error, Hashable, Sendable {
    /// Which other sends this failure affects.
    enum Scope: Hashable, Sendable {
        /// None: FCM did not answer the request.
        case inconclusive
        /// None: the failure is about the message itself.
        case message
        /// The other messages to the same topic: its quota is used up.
        case topic
        /// All messages of the project: its quota is used up.
        case project
        /// All messages of the project: FCM or the connection to it fails.
        case service
    }

    let error: DeliveryError
    let scope: Scope

    init(_ error: DeliveryError, scope: Scope = .message) {
        self.error = error
        self.scope = scope
    }
}

extension SendFailure {
    /// The message has expired.
    static let expired = SendFailure(.expired, scope: .inconclusive)

    static let unwritable = SendFailure(DeliveryError(.invalidMessage))

    /// No access token. It is retryable even if Google refuses the key, because an operator can correct that.
    init(_ failure: TokenFailure) {
        self.init(
            DeliveryError(.oauth, failure.description, retryAfter: failure.retryAfter.map { max(1, Milliseconds($0)) }),
            scope: .service)
    }

    /// No answer.
    ///
    /// - Parameter timeGiven: How long the transport had the request. A timeout counts against FCM only after half a second, or
    ///   after five seconds if the request was not sent: then it may have queued behind others.
    init(_ error: TransportError, after timeGiven: Duration) {
        let (code, scope): (RelayErrorCode, Scope) =
            switch error.code {
            case .notReachable, .refusedAddress, .reset, .other: (.network, .service)
            case .tls: (.tls, .service)
            case .timeout:
                (.timeout, timeGiven >= .milliseconds(error.mayHaveBeenProcessed ? 500 : 5_000) ? .service : .inconclusive)
            case .tooLarge: (.badAnswer, .message)
            case .overloaded: (.overloaded, .inconclusive)
            case .cancelled, .stopped: (.stopping, .inconclusive)
            }
        let consequence = error.mayHaveBeenProcessed ? "; FCM may have accepted it" : ""
        self.init(DeliveryError(code, error.description + consequence), scope: scope)
    }
}

extension DeliveryError {
    static let expired = DeliveryError(.expired, "the message's deadline has passed")
}
