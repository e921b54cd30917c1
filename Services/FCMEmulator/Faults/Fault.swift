import Glibc
import NIOHTTP2
import Base

/// One fault injected into one request.
enum Fault: Hashable, Sendable {
    /// The request is delayed before it is processed.
    case delay(Latency)
    /// The request is processed, and the answer is delayed.
    case delayReply(Latency)
    /// The request is processed, and the answer's body comes piece by piece within this time.
    case slowBody(Latency)
    /// The request is not processed but answered with an error.
    case answer(FaultAnswer)
    /// The request is not processed and has no answer.
    case breakOff(Break)
    /// The request is processed, and the connection takes no further requests.
    case goAway(GoAway.Reason)
    /// The request is not processed. The GOAWAY says so of it and of all others that were not started.
    case goAwayUndone(GoAway.Reason)
    /// The request is processed and has no answer.
    case loseReply(Break)

    /// How a request is left without an answer.
    enum Break: Hashable, Sendable {
        case resetStream(HTTP2ErrorCode)
        /// An orderly close, with TLS's `close_notify`.
        case closeConnection
        /// A TCP reset.
        case cutConnection
    }
}

/// The kinds of requests that faults can apply to.
enum Operation: String, CaseIterable, Sendable {
    case send = "SEND"
    /// The OAuth token endpoint.
    case token = "TOKEN"
    /// Topic management.
    case topics = "TOPICS"
}

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

/// A fixed or random delay, in milliseconds.
enum Latency: Hashable, Sendable {
    case fixed(Double)
    /// A uniform distribution between the two.
    case uniform(min: Double, max: Double)
    /// A log-normal distribution with this median. One value in a hundred is longer than `p99`.
    case longTail(median: Double, p99: Double)

    /// The upper limit of every delay: an hour, in milliseconds.
    static let maxMilliseconds = 3_600_000.0

    /// The 99th percentile of the standard normal distribution.
    private static let normalP99 = 2.326_347_874_040_841

    func draw(from generator: inout SeededGenerator) -> Duration {
        let milliseconds =
            switch self {
            case .fixed(let value): value
            case .uniform(let min, let max): Double.random(in: min...max, using: &generator)
            case .longTail(let median, let p99): median * exp(log(p99 / median) / Self.normalP99 * Self.normal(&generator))
            }
        return .microseconds(Int64(min(milliseconds, Self.maxMilliseconds) * 1_000))
    }

    /// One value of the standard normal distribution (Box–Muller).
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        let radius = sqrt(-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)))
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
    }
}
