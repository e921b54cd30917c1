import NIOHTTP2

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
