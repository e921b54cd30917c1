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
    /// Set only if the status is not a success.
    let retryAfter: String?
    let body: Data

    init(status: Int, retryAfter: String? = nil, body: Data = Data()) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// Why a request got no answer.
struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure: a closed list, usable as a metric label.
    enum Code: String, CaseIterable, Sendable {
        /// The host does not exist or accepts no connections.
        case notReachable
        /// The two sides cannot agree on encryption, or the server's certificate is not trusted.
        case tls
        /// No answer by the request's deadline, or no connection within the connect timeout.
        case timeout
        /// The connection or the request's stream ended before the answer was complete.
        case reset
        /// The caller has cancelled the request.
        case cancelled
        /// The answer exceeds the size limit.
        case tooLarge
        /// The transport has been closed.
        case stopped
        /// Too many requests wait already.
        case overloaded
        /// Anything else, by its description.
        case other
    }

    let code: Code
    /// One sentence, at most 200 characters.
    let description: String
    /// Whether any part of the request was sent. `true`: the server may have processed it. `false`: it certainly did not.
    let mayHaveBeenProcessed: Bool

    init(_ code: Code, _ description: String, mayHaveBeenProcessed: Bool = false) {
        self.code = code
        self.description = String(description.prefix(200))
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
    }
}
