import NIOHTTP2

/// One thing that goes wrong on purpose with one request.
enum Fault: Hashable, Sendable {
    /// It takes its time before anything is done.
    case delay(Latency)
    /// It is done, and the answer takes its time.
    case delayReply(Latency)
    /// It is done, and the answer's body comes piece by piece, within so long.
    case slowBody(Latency)
    /// It is not done but answered with an error.
    case answer(FaultAnswer)
    /// It is not done, and has no answer.
    case breakOff(Break)
    /// It is done, and the connection takes no further requests.
    case goAway(GoAway.Reason)
    /// It is not done, and the connection says so of it and of all that were not taken up.
    case goAwayUndone(GoAway.Reason)
    /// It is done, and has no answer.
    case loseReply(Break)

    /// How a request is left without an answer.
    enum Break: Hashable, Sendable {
        case resetStream(HTTP2ErrorCode)
        /// In good order, with the goodbye of TLS.
        case closeConnection
        /// By a TCP reset.
        case cutConnection
    }
}

/// The requests that faults are for.
enum Operation: String, CaseIterable, Sendable {
    case send = "SEND"
    /// The OAuth token endpoint.
    case token = "TOKEN"
    /// Topic management.
    case topics = "TOPICS"
}
