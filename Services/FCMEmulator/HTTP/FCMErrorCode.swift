import HTTPTypes

/// FCM's own error codes (FCM's reference, "ErrorCode").
enum FCMErrorCode: String, Sendable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"

    var httpStatus: HTTPResponse.Status {
        switch self {
        case .invalidArgument: .badRequest
        case .unregistered: .notFound
        case .senderIDMismatch: .forbidden
        case .quotaExceeded: .tooManyRequests
        case .unavailable: .serviceUnavailable
        case .internal: .internalServerError
        case .thirdPartyAuthError: .unauthorized
        }
    }

    /// The name of the `google.rpc.Code`.
    var status: String {
        switch self {
        case .invalidArgument: "INVALID_ARGUMENT"
        case .unregistered: "NOT_FOUND"
        case .senderIDMismatch: "PERMISSION_DENIED"
        case .quotaExceeded: "RESOURCE_EXHAUSTED"
        case .unavailable: "UNAVAILABLE"
        case .internal: "INTERNAL"
        case .thirdPartyAuthError: "UNAUTHENTICATED"
        }
    }
}
