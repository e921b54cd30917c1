package import FoundationEssentials

/// Sends HTTP requests, with TLS unless a request's ``ServerScope`` allows to do without.
package protocol HTTPTransport: Sendable {
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
package typealias HTTPTransportOutcome = Result<HTTPTransportResponse, TransportError>

/// One POST or GET.
package struct HTTPTransportRequest: Sendable {
    /// An `https://` URL; with ``ServerScope/allAndPlainLoopback`` also an `http://` one.
    package let url: String
    /// Header lines without line ends, such as `content-type: application/json`.
    package let headers: [String]
    /// The body of a POST; `nil` for a GET.
    package let body: Data?
    /// When the request times out. Time in a queue counts.
    package let deadline: ContinuousClock.Instant
    /// The servers that it may reach.
    package let scope: ServerScope

    package init(
        url: String, headers: [String], body: Data?, deadline: ContinuousClock.Instant, scope: ServerScope = .all
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.scope = scope
    }
}

/// The servers that a request may reach. Their addresses are checked after the resolution of the name: for each new connection before it
/// is made, and for each request before it is sent.
package enum ServerScope: Hashable, Sendable {
    /// All servers with TLS.
    case all
    /// Servers with TLS and a public address, for a URL from a stranger. If the environment names a proxy, only the proxy knows the address
    /// and has to check it.
    case publicAddresses
    /// All servers with TLS, and those on this machine's loopback addresses also without.
    case allAndPlainLoopback
}

/// The used parts of an HTTP answer.
package struct HTTPTransportResponse: Sendable {
    package let status: Int
    /// Set only if the status is not a success.
    package let retryAfter: String?
    /// The address of what the request has created. Set only if the status is 201.
    package let location: String?
    package let body: Data

    package init(status: Int, retryAfter: String? = nil, location: String? = nil, body: Data = Data()) {
        self.status = status
        self.retryAfter = retryAfter
        self.location = location
        self.body = body
    }
}

/// Why a request got no answer.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure: a closed list, usable as a metric label.
    package enum Code: String, CaseIterable, Sendable {
        /// The host does not exist or accepts no connections.
        case notReachable
        /// The two sides cannot agree on encryption, or the server's certificate is not trusted.
        case tls
        /// The server's address is outside the request's scope.
        case refusedAddress
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

    package let code: Code
    /// One sentence, at most 200 characters.
    package let description: String
    /// Whether any part of the request was sent. `true`: the server may have processed it. `false`: it certainly did not.
    package let mayHaveBeenProcessed: Bool

    package init(_ code: Code, _ description: String, mayHaveBeenProcessed: Bool = false) {
        self.code = code
        self.description = String(description.prefix(200))
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
    }
}
