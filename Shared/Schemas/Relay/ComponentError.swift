import JSON

/// Why FCM, or the way to it, did not accept a component.
package struct ComponentError: Codable, Hashable, Sendable {
    /// What to do about it.
    package var `class`: ErrorClass
    /// FCM's error code or status where it gave one, otherwise one of the relay's own (``RelayErrorCode``). Of bounded variety: fit
    /// for counting.
    package var code: String
    /// One sentence for the operator.
    package var message: String
    /// For a retryable error: not before so many milliseconds have passed.
    package var retryAfter: Int64?

    private enum CodingKeys: String, CodingKey {
        case `class`, code, message
        case retryAfter = "retry_after"
    }

    package init(class: ErrorClass, code: String, message: String, retryAfter: Int64? = nil) {
        self.class = `class`
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }
}

/// What an error means for the component.
package enum ErrorClass: String, ClosedEnum {
    /// Trying again cannot help.
    case permanent
    /// Worth trying again.
    case retryable
    /// The message's deadline has passed.
    case expired
}
