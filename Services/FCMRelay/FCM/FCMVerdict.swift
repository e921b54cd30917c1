/// What to do about an error of Google's.
enum FCMVerdict: Equatable, Sendable {
    case permanent
    /// Not before the pause is over, unless the answer says when.
    case retryable(pause: Duration, SendFailure.Scope)
    case tokenRefused
}

extension FCMVerdict {
    /// Google: wait ten seconds or more before a first retry.
    private static let soon = FCMVerdict.retryable(pause: .seconds(10), .service)
    private static let whenProxyIsBack = FCMVerdict.retryable(pause: .seconds(30), .service)
    /// Google: a minute where a quota is used up and there is no Retry-After.
    private static func whenQuotaIsRefilled(of scope: SendFailure.Scope) -> FCMVerdict {
        .retryable(pause: .seconds(60), scope)
    }

    /// By an `FcmError` code, an `ErrorInfo` reason, a status of Google's APIs or an error of the Instance ID service; `nil` for
    /// one that says nothing certain.
    init?(code: String) {
        switch code {
        case "INVALID_ARGUMENT", "UNREGISTERED", "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR",
            "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED", "TOO_MANY_TOPICS":
            self = .permanent
        case "QUOTA_EXCEEDED":
            self = Self.whenQuotaIsRefilled(of: .topic)
        // Of the project's quota FCM speaks without a code of its own, by Google's general ones.
        case "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED":
            self = Self.whenQuotaIsRefilled(of: .project)
        case "UNAVAILABLE", "INTERNAL", "ABORTED", "CANCELLED", "DEADLINE_EXCEEDED", "UNKNOWN":
            self = Self.soon
        case "UNAUTHENTICATED":
            self = .tokenRefused
        default:
            return nil
        }
    }

    /// By HTTP's status alone, where the body says nothing: a proxy's page, or none.
    init(httpStatus: Int) {
        switch httpStatus {
        case 401: self = .tokenRefused
        case 408: self = Self.soon
        case 429: self = Self.whenQuotaIsRefilled(of: .project)
        case 400..<500: self = .permanent
        case 502: self = Self.whenProxyIsBack
        // 5xx, and what no API answers: a redirect to a log-in page of the network, say.
        default: self = Self.soon
        }
    }
}
