import FoundationEssentials

/// Sends HTTPS requests to FCM and to the token endpoint.
protocol HTTPTransport: Sendable {
    /// Sends requests concurrently, starting with the first. Returns when each has an answer, with any status, or has failed.
    ///
    /// It takes several requests, so that the task waits once for requests that belong together. A cancelled task
    /// abandons its requests.
    ///
    /// - Returns: The outcomes in order.
    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome]

    /// Refuses every later request. Pending ones continue.
    func refuseNewRequests()

    /// Sends all later requests over new connections, since the existing ones may be dead. Pending requests on those may
    /// still be answered.
    func renewConnections()

    /// Fails all unanswered requests, refuses new ones and closes the connections.
    func close() async
}

/// The outcome of a request.
typealias HTTPTransportOutcome = Result<HTTPTransportResponse, TransportError>

/// One POST or GET.
struct HTTPTransportRequest: Sendable {
    /// An `https://` URL.
    let url: String
    /// Header lines without line ends, such as `content-type: application/json`.
    let headers: [String]
    /// The body of a POST; `nil` for a GET.
    let body: Data?
    /// When the request times out. Time in a queue counts.
    let deadline: ContinuousClock.Instant
}

/// The used parts of an HTTP answer.
struct HTTPTransportResponse: Sendable {
    let status: Int
    /// Set only if the status is no success.
    let retryAfter: String?
    let body: Data

    init(status: Int, retryAfter: String? = nil, body: Data = Data()) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}
