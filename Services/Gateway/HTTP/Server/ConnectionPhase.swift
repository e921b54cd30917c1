import NIOCore

/// The current deadline of a connection. Pure: events in, deadline out.
struct ConnectionPhase: Sendable {
    /// Which deadline has passed.
    enum Overdue: Hashable, Sendable {
        /// No request has begun.
        case request
        /// A request has begun and is incomplete.
        case restOfRequest
        /// A response has begun and is incomplete.
        case restOfResponse
    }

    private let timeouts: ConnectionTimeouts
    /// When the incomplete request began, if there is one.
    private var requestBegan: NIODeadline?
    /// Requests whose head has arrived and whose response is not completely sent.
    private var unanswered = 0
    /// Responses that have begun and are not completely sent. A client may send requests before it has read earlier responses.
    private var responsesInFlight = 0
    /// The start of the oldest one's deadline: when it began, became the oldest, or the client last read a piece of it.
    private var responseBegan: NIODeadline?
    private var idleSince: NIODeadline
    /// Whether the response is a stream of events, which has no end.
    private var isStreaming = false
    /// Whether the response is made while it is sent, so that its size is unknown at its start.
    private(set) var isGrowing = false
    /// Pieces of growing responses, and ends of responses, that are written and not sent yet.
    private var unsentPieces = 0

    init(_ timeouts: ConnectionTimeouts, at now: NIODeadline) {
        self.timeouts = timeouts
        idleSince = now
    }

    /// The deadline for the client's next action; `nil` while the gateway itself is working.
    var deadline: (overdue: Overdue, time: NIODeadline)? {
        if isStreaming { return nil }
        if isGrowing, unsentPieces == 0 { return nil }
        if let responseBegan { return (.restOfResponse, responseBegan + timeouts.response) }
        guard let requestBegan else {
            return unanswered == 0 ? (.request, idleSince + timeouts.idle) : nil
        }
        // While an earlier request is being answered, the gateway may not read.
        return unanswered <= 1 ? (.restOfRequest, max(requestBegan, idleSince) + timeouts.request) : nil
    }

    /// Since when the gateway has waited for a request or its rest; `nil` while the gateway itself is working.
    var waitsSince: NIODeadline? {
        if isStreaming || responseBegan != nil { return nil }
        guard let requestBegan else { return unanswered == 0 ? idleSince : nil }
        return unanswered <= 1 ? max(requestBegan, idleSince) : nil
    }

    /// Bytes of a request have arrived, not necessarily the whole head.
    mutating func bytesArrived(at now: NIODeadline) {
        if unanswered == 0, requestBegan == nil { requestBegan = now }
    }

    mutating func requestHeadArrived(at now: NIODeadline) {
        if requestBegan == nil { requestBegan = now }
        unanswered += 1
    }

    mutating func requestEnded() {
        requestBegan = nil
    }

    mutating func responseStarted(at now: NIODeadline) {
        responsesInFlight += 1
        if responseBegan == nil { responseBegan = now }
    }

    /// The response that has begun is a stream of events. Its own limits apply.
    mutating func streamStarted() {
        isStreaming = true
    }

    /// The response that has begun is made while it is sent. It may take any time, as long as the client reads each piece in time.
    mutating func growthStarted() {
        isGrowing = true
    }

    /// A piece of a growing response was written, or the end of a response.
    mutating func pieceWritten(at now: NIODeadline) {
        if isGrowing, unsentPieces == 0 { responseBegan = now }
        unsentPieces += 1
    }

    /// The client has read a piece of a growing response.
    mutating func pieceSent(at now: NIODeadline) {
        unsentPieces -= 1
        responseBegan = now
    }

    /// The last byte of a response was sent.
    mutating func responseEnded(at now: NIODeadline) {
        (isStreaming, isGrowing) = (false, false)
        unsentPieces = max(0, unsentPieces - 1)
        responsesInFlight = max(0, responsesInFlight - 1)
        responseBegan = responsesInFlight > 0 ? now : nil
        unanswered = max(0, unanswered - 1)
        idleSince = now
    }
}

/// The timeouts for the client's actions on a connection.
struct ConnectionTimeouts: Sendable {
    /// From the connection's opening, or the end of a response, to the first byte of a request.
    var idle = TimeAmount.seconds(15)
    /// From a request's first byte to its last.
    var request = TimeAmount.seconds(10)
    /// From a response's first byte to its last. For a response whose size is unknown at its start: for each piece of it.
    var response = TimeAmount.seconds(30)
    /// From the last response to the client's end of the connection.
    var closing = TimeAmount.seconds(1)
    /// How long an idle connection stays open when the gateway stops. This time adds to each restart.
    var stopping = TimeAmount.milliseconds(500)
}
