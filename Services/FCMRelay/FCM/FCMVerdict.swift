import Schemas

/// How to react to an error from Google.
enum FCMVerdict: Equatable, Sendable {
    case permanent
    /// Retry after the pause, or after the answer's Retry-After.
    case retryable(pause: Duration, SendFailure.Scope)
    case tokenRefused
}

extension FCMVerdict {
    /// Google: wait ten seconds or more before a first retry.
    private static let soon = FCMVerdict.retryable(pause: .seconds(10), .service)
    private static let whenProxyIsBack = FCMVerdict.retryable(pause: .seconds(30), .service)
    /// Google: wait a minute if a quota is used up and there is no Retry-After.
    private static func whenQuotaIsRefilled(of scope: SendFailure.Scope) -> FCMVerdict {
        .retryable(pause: .seconds(60), scope)
    }

    /// The verdict for an `FcmError` code, an `ErrorInfo` reason, a status of Google's APIs or an error of the Instance ID
    /// service; `nil` for an unknown code.
    init?(code: String) {
        guard let code = RelayErrorCode(rawValue: code), code.origin == .fcm else { return nil }
        switch code {
        case .quotaExceeded:
            self = Self.whenQuotaIsRefilled(of: .topic)
        // For the project's quota FCM has no code of its own, and uses Google's general ones.
        case .rateLimitExceeded, .resourceExhausted:
            self = Self.whenQuotaIsRefilled(of: .project)
        case .unauthenticated:
            self = .tokenRefused
        default:
            self = code.class == .permanent ? .permanent : Self.soon
        }
    }

    /// The verdict for HTTP's status, if the body has no code: it is a proxy's page, or empty.
    init(httpStatus: Int) {
        switch httpStatus {
        case 401: self = .tokenRefused
        case 408: self = Self.soon
        case 429: self = Self.whenQuotaIsRefilled(of: .project)
        case 400..<500: self = .permanent
        case 502: self = Self.whenProxyIsBack
        // 5xx, and answers that come from no API, such as a redirect to a network's log-in page.
        default: self = Self.soon
        }
    }
}
