import NIOCore

/// What a connection waits for, and until when. Pure: events in, deadline out.
struct ConnectionPhase: Sendable {
    /// What takes too long.
    enum Overdue: Hashable, Sendable {
        /// No request has begun.
        case request
        /// A request has begun, and not arrived as a whole.
        case restOfRequest
        /// A response has begun, and not been written as a whole.
        case restOfResponse
    }

    private let timeouts: ConnectionTimeouts
    /// When a request that has not arrived as a whole began.
    private var requestBegan: NIODeadline?
    /// Requests whose head has arrived and whose response has not left as a whole.
    private var unanswered = 0
    /// Responses that have begun and not left as a whole: a client may send requests before it has read earlier responses.
    private var responsesUnderWay = 0
    /// When the oldest of them began, or became the oldest.
    private var responseBegan: NIODeadline?
    private var idleSince: NIODeadline

    init(_ timeouts: ConnectionTimeouts, at now: NIODeadline) {
        self.timeouts = timeouts
        idleSince = now
    }

    /// What is awaited from the client, and until when; `nil` while the gateway itself is at work.
    var deadline: (overdue: Overdue, time: NIODeadline)? {
        if let responseBegan { return (.restOfResponse, responseBegan + timeouts.response) }
        guard let requestBegan else {
            return unanswered == 0 ? (.request, idleSince + timeouts.idle) : nil
        }
        // While an earlier request is being answered, nothing more may be read.
        return unanswered <= 1 ? (.restOfRequest, max(requestBegan, idleSince) + timeouts.request) : nil
    }

    /// Bytes of a request have arrived, but perhaps not its head.
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

    /// The last byte of a response has left.
    mutating func responseEnded(at now: NIODeadline) {
        responsesUnderWay = max(0, responsesUnderWay - 1)
        responseBegan = responsesUnderWay > 0 ? now : nil
        unanswered = max(0, unanswered - 1)
        idleSince = now
    }
}
