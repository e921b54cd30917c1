/// The faults by their names in rules.
enum FaultName: String, CaseIterable, Sendable {
    case delay = "DELAY"
    case delayReply = "DELAY_REPLY"
    case slowBody = "SLOW_BODY"
    case invalidArgument = "INVALID_ARGUMENT"
    case unauthenticated = "UNAUTHENTICATED"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case unregistered = "UNREGISTERED"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case projectQuota = "PROJECT_QUOTA"
    case `internal` = "INTERNAL"
    case badGateway = "BAD_GATEWAY"
    case unavailable = "UNAVAILABLE"
    case invalidGrant = "INVALID_GRANT"
    case skewedClock = "SKEWED_CLOCK"
    case resetStream = "RESET_STREAM"
    case closeConnection = "CLOSE_CONNECTION"
    case cutConnection = "CUT_CONNECTION"
    case goAway = "GOAWAY"
    case goAwayUndone = "GOAWAY_UNDONE"
    case lostReply = "LOST_REPLY"

    /// The kinds of requests that it can apply to.
    var operations: [Operation] {
        switch self {
        case .delay, .delayReply, .slowBody, .internal, .badGateway, .unavailable, .resetStream, .closeConnection,
            .cutConnection, .goAway, .goAwayUndone, .lostReply:
            Operation.allCases
        case .unauthenticated: [.send, .topics]
        case .invalidArgument, .thirdPartyAuthError, .senderIDMismatch, .unregistered, .quotaExceeded, .projectQuota: [.send]
        case .invalidGrant, .skewedClock: [.token]
        }
    }

    /// The fields of a rule that only this fault has.
    var details: Set<String> {
        switch self {
        case .delay, .delayReply, .slowBody: ["fixed_ms", "least_ms", "most_ms", "median_ms", "p99_ms"]
        case .resetStream: ["code"]
        case .lostReply: ["code", "by"]
        case .goAway, .goAwayUndone: ["code", "text"]
        case .closeConnection, .cutConnection: []
        case .invalidArgument, .unauthenticated, .thirdPartyAuthError, .senderIDMismatch, .unregistered, .quotaExceeded,
            .projectQuota, .internal, .badGateway, .unavailable, .invalidGrant, .skewedClock:
            ["retry_after_s", "retry_after_form", "body"]
        }
    }

    /// When it happens to a request. A request can have one fault of each stage.
    enum Stage: Int, CaseIterable {
        case before, instead, after
    }

    var stage: Stage {
        switch self {
        case .delay: .before
        case .delayReply, .slowBody: .after
        default: .instead
        }
    }
}
