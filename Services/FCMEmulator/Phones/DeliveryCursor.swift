import DequeModule

/// The position of one event stream: the next message to read, the written events, and those that count as delivered.
///
/// An event counts as delivered once its stream has stayed open for a second after the write. If the stream or the emulator
/// breaks before, the event is written again: delivery is at least once.
struct DeliveryCursor {
    static let settlingTime: Duration = .seconds(1)
    static let heartbeatInterval: Duration = .seconds(5)

    /// The stream has processed everything up to here.
    private(set) var position: Int64
    /// Writes that are not settled yet: the last position of each, in order.
    private var unsettled: Deque<(position: Int64, written: ContinuousClock.Instant)> = []
    private var lastWrite: ContinuousClock.Instant

    init(after position: Int64, now: ContinuousClock.Instant) {
        self.position = position
        lastWrite = now
    }

    /// Notes that events up to a position were written.
    mutating func wrote(through position: Int64, now: ContinuousClock.Instant) {
        self.position = max(self.position, position)
        unsettled.append((position, now))
        lastWrite = now
    }

    /// Notes that there was nothing for the phone up to a position.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
    }

    /// Returns the position up to which everything has settled, if it has moved since the last call; otherwise `nil`.
    mutating func takeSettled(now: ContinuousClock.Instant) -> Int64? {
        let settled = unsettled.prefix { now - $0.written >= Self.settlingTime }
        unsettled.removeFirst(settled.count)
        return settled.last?.position
    }

    /// Whether a heartbeat is due because of silence. If so, it counts as written.
    mutating func takeHeartbeat(now: ContinuousClock.Instant) -> Bool {
        guard now - lastWrite >= Self.heartbeatInterval else { return false }
        lastWrite = now
        return true
    }

    /// When the next settling or heartbeat is due.
    var nextWake: ContinuousClock.Instant {
        let heartbeat = lastWrite + Self.heartbeatInterval
        return unsettled.first.map { min($0.written + Self.settlingTime, heartbeat) } ?? heartbeat
    }
}
