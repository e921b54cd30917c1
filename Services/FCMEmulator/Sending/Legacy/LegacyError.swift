import HTTPTypes
import JSON

/// The error of one message of a legacy request, in that API's words.
enum LegacyError: String, Error, Sendable {
    case invalidRegistration = "InvalidRegistration"
    case notRegistered = "NotRegistered"
    case mismatchSenderID = "MismatchSenderId"
    case messageTooBig = "MessageTooBig"
    case invalidDataKey = "InvalidDataKey"
    case invalidTTL = "InvalidTtl"
    case invalidParameters = "InvalidParameters"
    case deviceRateExceeded = "DeviceMessageRateExceeded"
    case topicsRateExceeded = "TopicsMessageRateExceeded"
    case unavailable = "Unavailable"
    case internalServerError = "InternalServerError"

    /// - Parameter error: The HTTP v1 API's error.
    /// - Returns: `nil` for an error of the whole call: invalid credentials, or the project's quota.
    init?(_ error: GoogleError) {
        switch error.httpStatus {
        case .unauthorized: return nil
        case .forbidden: self = .mismatchSenderID
        case .notFound: self = .notRegistered
        case .tooManyRequests:
            guard error.fcmErrorCode == .quotaExceeded else { return nil }
            self = error.message.hasPrefix("Topic") ? .topicsRateExceeded : .deviceRateExceeded
        case .badRequest: self = Self.refused(error)
        case .internalServerError: self = .internalServerError
        default: self = .unavailable
        }
    }

    private static func refused(_ error: GoogleError) -> LegacyError {
        guard !error.message.hasPrefix("Message is too large") else { return .messageTooBig }
        return switch error.violatedField {
        case "message.token": .invalidRegistration
        case "message.android.ttl": .invalidTTL
        case "message.data", "message.android.data": .invalidDataKey
        default: .invalidParameters
        }
    }
}

extension GoogleError {
    fileprivate var fcmErrorCode: FCMErrorCode? {
        details.lazy.compactMap { $0["errorCode"]?.string }.first.flatMap { FCMErrorCode(rawValue: $0) }
    }

    fileprivate var violatedField: String? {
        details.lazy.compactMap { $0["fieldViolations"]?.elements?.first?["field"]?.string }.first
    }
}
