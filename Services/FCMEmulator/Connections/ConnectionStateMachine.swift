import NIOHTTP2
import Synchronization

/// The state of one HTTP/2 connection's streams: events in, actions out.
///
/// A stream *arrives* with its headers. It is *taken* once its request is certain to be processed. A GOAWAY is always truthful:
/// the streams that it covers are processed, and the others are not.
struct ConnectionStateMachine {
    private let limits: ConnectionLimits
    private var open: Set<Int> = []
    private var lastArrived = 0
    private var lastTaken = 0
    /// The last stream of the GOAWAY that was sent, if any.
    private var lastCovered: Int?
    private var pings = 0

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    /// What to do with a stream that has arrived.
    enum Admission: Hashable, Sendable {
        case admitted
        case refused
        case tooMany(GoAway)
    }

    mutating func arrived(_ stream: Int) -> Admission {
        open.insert(stream)
        lastArrived = max(lastArrived, stream)
        pings = 0
        // The client sent it before it saw the GOAWAY.
        guard stream <= lastCovered ?? stream else { return .refused }
        guard open.count > limits.streams else { return .admitted }
        switch limits.excess {
        case .refuse: return .refused
        case .goAway: return .tooMany(goAwayFromUntaken(because: .tooManyStreams))
        }
    }

    /// Notes that a request is about to be processed.
    ///
    /// - Returns: `false` if a GOAWAY has excluded it; then it must not be processed.
    mutating func take(_ stream: Int) -> Bool {
        guard stream <= lastCovered ?? stream else { return false }
        lastTaken = max(lastTaken, stream)
        return true
    }

    mutating func closed(_ stream: Int) {
        open.remove(stream)
    }

    var isIdle: Bool { open.isEmpty }

    /// Whether a GOAWAY was sent.
    var isLeaving: Bool { lastCovered != nil }

    /// Whether a GOAWAY was sent and all streams that it covers have finished.
    var isFinished: Bool { isLeaving && open.isEmpty }

    /// Notes a PING.
    ///
    /// - Returns: The GOAWAY that ends the connection, if that was one PING too many.
    mutating func pinged() -> GoAway? {
        pings += 1
        guard let max = limits.pings, pings >= max else { return nil }
        return goAway(because: .tooManyPings)
    }

    /// A GOAWAY that covers everything that has arrived.
    mutating func goAway(because reason: GoAway.Reason) -> GoAway {
        cover(through: lastArrived, reason)
    }

    /// A GOAWAY that covers only the streams that were taken. Later ones are not processed.
    mutating func goAwayFromUntaken(because reason: GoAway.Reason) -> GoAway {
        cover(through: lastTaken, reason)
    }

    private mutating func cover(through stream: Int, _ reason: GoAway.Reason) -> GoAway {
        // A later GOAWAY may only cover fewer streams.
        let last = min(stream, lastCovered ?? stream)
        lastCovered = last
        return GoAway(lastStream: last, reason: reason)
    }
}

/// The state of a connection behind a lock. The event loop and the tasks of its requests share it.
final class SharedConnectionState: Sendable {
    private let ledger: Mutex<ConnectionStateMachine>

    init(limits: ConnectionLimits) {
        ledger = Mutex(ConnectionStateMachine(limits: limits))
    }

    func withLock<Result: Sendable>(_ body: (inout ConnectionStateMachine) -> Result) -> Result {
        ledger.withLock { body(&$0) }
    }
}

/// The content of an HTTP/2 GOAWAY.
struct GoAway: Hashable, Sendable {
    /// The last stream that is or will be processed. Streams with higher numbers were not, and may be sent again elsewhere.
    let lastStream: Int
    let reason: Reason

    /// An error code, and a text for the client's log.
    struct Reason: Hashable, Sendable {
        let code: HTTP2ErrorCode
        let text: String
        /// Whether the connection ends at once, without waiting for the streams that the GOAWAY covers.
        var isFinal = false
    }
}

extension GoAway.Reason {
    /// The reasons that FCM's front end gives, in its own words.
    static let idle = Self(code: .noError, text: "session_timeout")
    static let age = Self(code: .noError, text: "max_age")
    static let tooManyPings = Self(code: .enhanceYourCalm, text: "too_many_pings", isFinal: true)
    static let tooManyStreams = Self(code: .protocolError, text: "exceeded_max_concurrent_streams", isFinal: true)
    static let stopping = Self(code: .noError, text: "")
}
