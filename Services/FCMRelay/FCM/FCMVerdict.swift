import Schemas

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
        guard let code = RelayErrorCode(rawValue: code), code.origin == .fcm else { return nil }
        switch code {
        case .quotaExceeded:
            self = Self.whenQuotaIsRefilled(of: .topic)
        // Of the project's quota FCM speaks without a code of its own, by Google's general ones.
        case .rateLimitExceeded, .resourceExhausted:
            self = Self.whenQuotaIsRefilled(of: .project)
        case .unauthenticated:
            self = .tokenRefused
        default:
            self = code.class == .permanent ? .permanent : Self.soon
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
