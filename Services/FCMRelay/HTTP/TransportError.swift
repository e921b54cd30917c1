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
