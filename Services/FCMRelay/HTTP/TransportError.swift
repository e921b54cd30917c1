/// A request that got no answer.
struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure. The list is closed: it is fit for a metric's label.
    enum Code: String, CaseIterable, Sendable {
        /// No such host, or nobody takes connections there.
        case notReachable
        /// The two sides cannot agree on encryption, or the server's certificate is not trusted.
        case tls
        /// No answer by the request's deadline, or no connection within the time for one.
        case timeout
        /// The connection, or the request's stream on it, ended before the answer did.
        case reset
        /// Whoever waited for the answer does no more.
        case cancelled
        /// The answer is longer than anything that is expected.
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
    /// Whether any of the request had been sent: then the server may have acted on it. `false` means that it certainly did not.
    let mayHaveBeenProcessed: Bool

    init(_ code: Code, _ description: String, mayHaveBeenProcessed: Bool = false) {
        self.code = code
        self.description = String(description.prefix(200))
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
    }
}
