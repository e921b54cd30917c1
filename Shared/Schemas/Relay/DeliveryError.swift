import JSON
package import Time

/// The error of a component that was not sent or not accepted.
package struct DeliveryError: Codable, Hashable, Sendable {
    /// What to do about it.
    package var `class`: ErrorClass
    /// FCM's error code or status if it gave one, otherwise one of the relay's (``RelayErrorCode``). There are few, so it can be
    /// a metric label.
    package var code: String
    /// One sentence for the operator.
    package var message: String
    /// For a retryable error: the minimum wait.
    package var retryAfter: Milliseconds?

    private enum CodingKeys: String, CodingKey {
        case `class`, code, message
        case retryAfter = "retry_after"
    }

    package init(class: ErrorClass, code: String, message: String, retryAfter: Milliseconds? = nil) {
        self.class = `class`
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }
}

/// Whether to retry.
package enum ErrorClass: String, ClosedEnum {
    /// Another attempt would fail as well.
    case permanent
    /// Another attempt may succeed.
    case retryable
    /// The message's deadline has passed.
    case expired
}
