import NIOCore

/// What a connection waits for, and its deadline. Pure: events in, deadline out.
struct ConnectionPhase: Sendable {
    /// What is late.
    enum Overdue: Hashable, Sendable {
        /// No request has begun.
        case request
        /// A request has begun and is incomplete.
        case restOfRequest
        /// A response has begun and is incomplete.
        case restOfResponse
    }

    private let timeouts: ConnectionTimeouts
    /// When the incomplete request began.
    private var requestBegan: NIODeadline?
    /// Requests whose head has arrived and whose response is not written yet.
    private var unanswered = 0
    /// Responses that have begun and are incomplete. There may be several: a client may send requests before it reads responses.
    private var responsesUnderWay = 0
    /// When the oldest of them began, or became the oldest.
    private var responseBegan: NIODeadline?
    private var idleSince: NIODeadline

    init(_ timeouts: ConnectionTimeouts, at now: NIODeadline) {
        self.timeouts = timeouts
        idleSince = now
    }

    /// What the client must do, and until when; `nil` while the gateway is working.
    var deadline: (overdue: Overdue, time: NIODeadline)? {
        if let responseBegan { return (.restOfResponse, responseBegan + timeouts.response) }
        guard let requestBegan else {
            return unanswered == 0 ? (.request, idleSince + timeouts.idle) : nil
        }
        // The gateway may read nothing while it answers an earlier request.
        return unanswered <= 1 ? (.restOfRequest, max(requestBegan, idleSince) + timeouts.request) : nil
    }

    /// Bytes of a request have arrived, perhaps without a whole head.
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
        responsesUnderWay += 1
        if responseBegan == nil { responseBegan = now }
    }

    /// The last byte of a response was written.
    mutating func responseEnded(at now: NIODeadline) {
        responsesUnderWay = max(0, responsesUnderWay - 1)
        responseBegan = responsesUnderWay > 0 ? now : nil
        unanswered = max(0, unanswered - 1)
        idleSince = now
    }
}
