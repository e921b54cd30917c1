import FoundationEssentials

/// The way to HTTPS servers: FCM, and whoever hands out its access tokens.
protocol HTTPTransport: Sendable {
    /// POSTs a request and returns the answer, whatever its status.
    ///
    /// A cancelled task abandons its request.
    func send(_ request: HTTPTransportRequest) async throws(TransportError) -> HTTPTransportResponse

    /// Fails every request that has no answer yet, refuses new ones and closes the connections.
    func close() async
}

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
    let retryAfter: String?
    let body: Data

    init(status: Int, retryAfter: String? = nil, body: Data = Data()) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}
