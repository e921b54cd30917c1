import FoundationEssentials
import Schemas

/// Sends encrypted pushes to the push services of subscriptions.
protocol PushSender: Sendable {
    /// Sends each request once. Requests to the same service share its pace; those to others do not wait for it. Returns when each
    /// request has an outcome.
    ///
    /// - Parameter deadline: When to give up. An outcome that is unknown by then is a retryable error.
    /// - Returns: For each request, in order: the push service's name for the push (`Location`), or why it was not accepted.
    func send(_ requests: [WebPushRequest], by deadline: ContinuousClock.Instant) async -> [Result<String, WebPushFailure>]
}

/// One push to one subscription.
struct WebPushRequest: Sendable {
    /// The subscription's endpoint.
    let url: String
    /// The endpoint's origin, such as `https://updates.push.services.mozilla.com`: the push service, which has its own pace and circuit
    /// breaker.
    let origin: String
    /// Whether the operator has named the origin. Then it may have a private address, and a loopback one may be without TLS.
    let isOperatorsOrigin: Bool
    /// Header lines without line ends: TTL, urgency, topic, content encoding, content type and authorization.
    let headers: [String]
    /// The encrypted body.
    let body: Data
    /// Urgent pushes overtake the others that wait.
    let isUrgent: Bool
    /// Whether the subscription has proven itself. A refusal (400, 401 or 403) of one that has not is the subscription's fault, and not the
    /// operator's.
    let isProven: Bool

    init(
        url: String, origin: String, isOperatorsOrigin: Bool = false, headers: [String], body: Data, isUrgent: Bool = false,
        isProven: Bool = true
    ) {
        self.url = url
        self.origin = origin
        self.isOperatorsOrigin = isOperatorsOrigin
        self.headers = headers
        self.body = body
        self.isUrgent = isUrgent
        self.isProven = isProven
    }
}

/// Why a push was not accepted.
struct WebPushFailure: Error, Hashable, Sendable {
    /// The consequence for the subscription.
    enum Consequence: Hashable, Sendable {
        /// None.
        case none
        /// It has ended (404 or 410): delete it.
        case gone
        /// It was never usable: the service refuses the first push to it. Delete it.
        case unusable
    }

    let error: DeliveryError
    let consequence: Consequence

    init(_ error: DeliveryError, _ consequence: Consequence = .none) {
        self.error = error
        self.consequence = consequence
    }

    /// Whether the subscription must be deleted.
    var endsSubscription: Bool { consequence != .none }
}

extension WebPushFailure: CustomStringConvertible {
    /// For the operator.
    var description: String { "\(error.code): \(error.message)" }
}

/// The state of one push service, for `webpush.counts`, the metrics and the health.
struct PushServiceStatus: Hashable, Sendable {
    let origin: String
    /// The number of requests without an answer.
    let inFlight: Int
    /// The number of requests that may be in flight now.
    let limit: Int
    /// The number of pushes that wait for their turn.
    let waiting: Int
    /// Why nothing is sent to it now, in one sentence for the operator; `nil` if pushes are sent.
    let stopped: String?
    /// Whether it refuses the hub's pushes (400, 401 or 403), which the operator must correct.
    let isRefusing: Bool
    /// Its last answer that is not about one subscription (404, 410, 413); `nil` if there was none.
    var lastAnswer: PushServiceAnswer?
}
