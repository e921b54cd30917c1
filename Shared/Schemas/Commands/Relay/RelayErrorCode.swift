package import Base

/// Every error code of the relay and of the message log, with its meaning, its class, and whether FCM may have accepted the
/// request.
///
/// Errors may also have other codes of FCM's, and `HTTP_` with a status if FCM's answer had no code. The relay takes each of
/// them as a refusal: FCM has not accepted the request. The exception is a proxy that passed the request on, and then answered
/// with a 5xx itself. The relay cannot notice that.
package enum RelayErrorCode: String, CaseIterable, Sendable {
    /// The program that reports the error.
    package enum Origin: Hashable, Sendable {
        /// FCM, or another service of Google's, in its answer.
        case fcm
        /// The relay.
        case relay
        /// The message log.
        case messageLog
    }

    /// Whether FCM may have accepted the request.
    package enum Acceptance: Hashable, Sendable {
        /// It has not.
        case no
        /// FCM was not asked: the relay or the message log kept the request back.
        case notAsked
        /// It may have. If it certainly has not, the error's message says so.
        case possible
    }

    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    case apnsAuthError = "APNS_AUTH_ERROR"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case failedPrecondition = "FAILED_PRECONDITION"
    case outOfRange = "OUT_OF_RANGE"
    case unimplemented = "UNIMPLEMENTED"
    case tooManyTopics = "TOO_MANY_TOPICS"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case aborted = "ABORTED"
    case cancelled = "CANCELLED"
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    case unknown = "UNKNOWN"
    case unauthenticated = "UNAUTHENTICATED"

    case network = "NETWORK"
    case tls = "TLS"
    case timeout = "TIMEOUT"
    case stopping = "STOPPING"
    case badAnswer = "BAD_ANSWER"
    case oauth = "OAUTH"
    case circuitOpen = "CIRCUIT_OPEN"
    case noTime = "NO_TIME"
    case overloaded = "OVERLOADED"
    case paced = "PACED"
    case projectPaused = "PROJECT_PAUSED"
    case topicPaused = "TOPIC_PAUSED"
    case stopped = "STOPPED"
    case expired = "EXPIRED"
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    case invalidMessage = "INVALID_MESSAGE"

    case relayNoAnswer = "RELAY_NO_ANSWER"
    case relayUnreachable = "RELAY_UNREACHABLE"
    case relayOverloaded = "RELAY_OVERLOADED"
    case relayInternal = "RELAY_INTERNAL"
    case relayInvalid = "RELAY_INVALID"
    case relayUnauthenticated = "RELAY_UNAUTHENTICATED"
    case relayForbidden = "RELAY_FORBIDDEN"
    case relayNotFound = "RELAY_NOT_FOUND"
    case relayConflict = "RELAY_CONFLICT"
    case relayTooOld = "RELAY_TOO_OLD"
    case switchedOff = "SWITCHED_OFF"
    case peopleUnreachable = "PEOPLE_UNREACHABLE"
    case deviceGone = "DEVICE_GONE"
    case fanOut = "FAN_OUT"

    package var origin: Origin { entry.origin }
    /// What to do about it.
    package var `class`: ErrorClass { entry.class }
    package var acceptance: Acceptance { entry.acceptance }
    /// Its meaning in one sentence.
    package var text: String { entry.text }

    private typealias Entry = (origin: Origin, class: ErrorClass, acceptance: Acceptance, text: String)

    private var entry: Entry {
        switch self {
        case .invalidArgument: (.fcm, .permanent, .no, "FCM refuses the message, or its recipient")
        case .unregistered: (.fcm, .permanent, .no, "the app is not installed any more, or the token is none: delete the token")
        case .senderIDMismatch: (.fcm, .permanent, .no, "the token belongs to another Firebase project")
        case .thirdPartyAuthError: (.fcm, .permanent, .no, "the project's key for APNs or web push is missing or wrong")
        case .apnsAuthError: (.fcm, .permanent, .no, "the project's key for APNs is missing or wrong")
        case .permissionDenied: (.fcm, .permanent, .no, "the service account may not send by the project")
        case .notFound: (.fcm, .permanent, .no, "there is no such project or phone")
        case .failedPrecondition: (.fcm, .permanent, .no, "the project is not set up for the request")
        case .outOfRange: (.fcm, .permanent, .no, "a value is out of FCM's range")
        case .unimplemented: (.fcm, .permanent, .no, "FCM does not support the request")
        case .tooManyTopics: (.fcm, .permanent, .no, "the app has reached its limit of topics")
        case .quotaExceeded: (.fcm, .retryable, .no, "the topic or the phone has had too many messages")
        case .rateLimitExceeded, .resourceExhausted: (.fcm, .retryable, .no, "the project's quota is used up")
        case .unavailable: (.fcm, .retryable, .no, "FCM is overloaded")
        case .internal: (.fcm, .retryable, .no, "FCM has failed")
        case .aborted, .cancelled: (.fcm, .retryable, .no, "FCM has not finished the request")
        case .deadlineExceeded: (.fcm, .retryable, .no, "FCM took too long by its own account")
        case .unknown: (.fcm, .retryable, .no, "FCM has failed without a reason")
        case .unauthenticated: (.fcm, .retryable, .no, "FCM refuses the access token, and a new one as well")
        case .network: (.relay, .retryable, .possible, "the connection to FCM could not be made, or has broken")
        case .tls: (.relay, .retryable, .no, "FCM's certificate is not trusted, or the two cannot agree on encryption")
        case .timeout: (.relay, .retryable, .possible, "FCM has not answered in time")
        case .stopping: (.relay, .retryable, .possible, "the relay has stopped before FCM's answer")
        case .badAnswer: (.relay, .retryable, .possible, "FCM's answer is malformed")
        case .oauth: (.relay, .retryable, .notAsked, "there is no access token")
        case .circuitOpen: (.relay, .retryable, .notAsked, "FCM has failed many times in a row")
        case .noTime: (.relay, .retryable, .notAsked, "the deadline was too near to send it")
        case .overloaded: (.relay, .retryable, .notAsked, "too many requests wait for a connection")
        case .paced: (.relay, .retryable, .notAsked, "more sends wait than the pace allows by the deadline")
        case .projectPaused: (.relay, .retryable, .notAsked, "FCM's quota for the project is used up")
        case .topicPaused: (.relay, .retryable, .notAsked, "FCM's quota for the topic is used up")
        case .stopped: (.relay, .retryable, .notAsked, "the relay is stopping")
        case .expired: (.relay, .expired, .notAsked, "the deadline has passed")
        case .payloadTooLarge: (.relay, .permanent, .notAsked, "the message is larger than FCM allows")
        case .invalidMessage: (.relay, .permanent, .notAsked, "the message cannot be written as JSON")
        case .relayNoAnswer: (.messageLog, .retryable, .possible, "the relay's answer was lost")
        case .relayUnreachable: (.messageLog, .retryable, .notAsked, "no relay takes messages")
        case .relayOverloaded: (.messageLog, .retryable, .notAsked, "the relay has too much to do")
        case .relayInternal: (.messageLog, .retryable, .possible, "the relay has failed; its log says more")
        case .relayInvalid: (.messageLog, .permanent, .notAsked, "the relay refuses the command")
        case .relayUnauthenticated: (.messageLog, .permanent, .notAsked, "the relay requires authentication")
        case .relayForbidden: (.messageLog, .permanent, .notAsked, "the relay does not allow the command")
        case .relayNotFound: (.messageLog, .permanent, .notAsked, "the relay does not have the requested project")
        case .relayConflict: (.messageLog, .permanent, .notAsked, "the command contradicts the relay's state")
        case .relayTooOld: (.messageLog, .retryable, .notAsked, "the relay is of an older version, without the command")
        case .switchedOff: (.messageLog, .permanent, .notAsked, "FCM, or Web Push, is switched off")
        case .peopleUnreachable: (.messageLog, .retryable, .notAsked, "the people service does not name the devices")
        case .deviceGone: (.messageLog, .permanent, .notAsked, "the device has signed out, or gets no pushes any more")
        case .fanOut: (.messageLog, .retryable, .notAsked, "it waits until FCM has delivered the pop-ups of Alerts")
        }
    }

    /// Whether the relay deferred the request without asking FCM.
    package var isKeptBack: Bool { origin == .relay && `class` == .retryable && acceptance == .notAsked }
}

extension DeliveryError {
    /// An error of the catalogue.
    ///
    /// - Parameters:
    ///   - message: One sentence for the operator; by default the catalogue's.
    ///   - retryAfter: The minimum wait.
    package init(_ code: RelayErrorCode, _ message: String? = nil, retryAfter: Milliseconds? = nil) {
        self.init(class: code.class, code: code.rawValue, message: message ?? code.text, retryAfter: retryAfter)
    }

    /// The catalogue's entry; `nil` for any other code.
    package var catalogued: RelayErrorCode? { RelayErrorCode(rawValue: code) }

    /// Whether the relay kept the request back, so that FCM was not asked.
    package var isKeptBack: Bool { catalogued?.isKeptBack ?? false }

    /// Whether FCM reports that the app is no longer installed, or that the token is none.
    package var isUnregistered: Bool { catalogued == .unregistered }
}
