/// What has become of the streams of one HTTP/2 connection: events in, what is to be done out.
///
/// A stream has *arrived* with its headers, and is *taken up* once its request is sure to be done. A GOAWAY always tells the
/// truth about that: what it covers is done, and what it does not cover is not, however late the request came to the point.
struct ConnectionLedger {
    private let limits: ConnectionLimits
    private var open: Set<Int> = []
    private var lastArrived = 0
    private var lastTaken = 0
    /// The last stream of the GOAWAY that was sent, if one was.
    private var lastCovered: Int?
    private var pings = 0

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    /// What is to be done with a stream that has arrived.
    enum Admission: Hashable, Sendable {
        case welcome
        case refused
        case tooMany(GoAway)
    }

    mutating func arrived(_ stream: Int) -> Admission {
        open.insert(stream)
        lastArrived = max(lastArrived, stream)
        pings = 0
        // Sent before the client can have heard that it shall not.
        guard stream <= lastCovered ?? stream else { return .refused }
        guard open.count > limits.streams else { return .welcome }
        switch limits.excess {
        case .refuse: return .refused
        case .goAway: return .tooMany(goAwayFromUntaken(because: .tooManyStreams))
        }
    }

    /// Notes that a request is going to be done.
    ///
    /// - Returns: `false` where it must not be, since the client has been told so.
    mutating func take(_ stream: Int) -> Bool {
        guard stream <= lastCovered ?? stream else { return false }
        lastTaken = max(lastTaken, stream)
        return true
    }

    mutating func closed(_ stream: Int) {
        open.remove(stream)
    }

    var isIdle: Bool { open.isEmpty }

    /// Whether the client has been told to go.
    var isLeaving: Bool { lastCovered != nil }

    /// Whether it has been told to go, and nothing of what it was promised is left to do.
    var isFinished: Bool { isLeaving && open.isEmpty }

    /// Notes a PING.
    ///
    /// - Returns: The end of the connection, if that was one too many.
    mutating func pinged() -> GoAway? {
        pings += 1
        guard let most = limits.pings, pings >= most else { return nil }
        return goAway(because: .tooManyPings)
    }

    /// The end of the connection after everything that has arrived.
    mutating func goAway(because reason: GoAway.Reason) -> GoAway {
        cover(through: lastArrived, reason)
    }

    /// The end of the connection after what was taken up: what has arrived since is not done.
    mutating func goAwayFromUntaken(because reason: GoAway.Reason) -> GoAway {
        cover(through: lastTaken, reason)
    }

    private mutating func cover(through stream: Int, _ reason: GoAway.Reason) -> GoAway {
        // What the client was told before may only become less.
        let last = min(stream, lastCovered ?? stream)
        lastCovered = last
        return GoAway(lastStream: last, reason: reason)
    }
}
