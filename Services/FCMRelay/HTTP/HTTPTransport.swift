import FoundationEssentials

/// The way to HTTPS servers: FCM, and whoever hands out its access tokens.
protocol HTTPTransport: Sendable {
    /// POSTs requests, beginning with the first, all under way at once, and returns when each has its answer, whatever its
    /// status, or none.
    ///
    /// Several at a time, because what belongs together then costs its task one wait. A cancelled task abandons its requests.
    ///
    /// - Returns: What became of each, in their order.
    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome]

    /// Refuses every later request; those that have no answer yet go on.
    func refuseNewRequests()

    /// Sends all requests from now on over new connections, since those that there are may be dead. What is under way on them
    /// may still be answered.
    func renewConnections()

    /// Fails every request that has no answer yet, refuses new ones and closes the connections.
    func close() async
}

/// What became of a request.
typealias HTTPTransportOutcome = Result<HTTPTransportResponse, TransportError>

/// One POST.
struct HTTPTransportRequest: Sendable {
    /// An `https://` URL.
    let url: String
    /// Header lines without line ends, such as `content-type: application/json`.
    let headers: [String]
    let body: Data
    /// When an answer is of no use any more; time in a queue counts.
    let deadline: ContinuousClock.Instant
}

/// What came back: the parts that somebody reads.
struct HTTPTransportResponse: Sendable {
    let status: Int
    /// Of an answer that is no success.
    let retryAfter: String?
    let body: Data

    init(status: Int, retryAfter: String? = nil, body: Data = Data()) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}
