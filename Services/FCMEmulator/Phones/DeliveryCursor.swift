/// How far one event stream has come: what it reads next, what it has written, and what of that counts as delivered.
///
/// An event counts as delivered once its stream has stayed open for a second after it was written. Whatever breaks before
/// then, the phone's stream or the emulator, the event is written again: at least once, never lost.
struct DeliveryCursor {
    static let settlingTime: Duration = .seconds(1)
    static let heartbeatInterval: Duration = .seconds(5)

    /// The stream has looked at everything up to here.
    private(set) var position: Int64
    /// What was written and has not settled: the last position of each write, in order.
    private var unsettled: [(position: Int64, written: ContinuousClock.Instant)] = []
    private var lastWrite: ContinuousClock.Instant

    init(after position: Int64, now: ContinuousClock.Instant) {
        self.position = position
        lastWrite = now
    }

    /// Events up to a position were written.
    mutating func wrote(through position: Int64, now: ContinuousClock.Instant) {
        self.position = max(self.position, position)
        unsettled.append((position, now))
        lastWrite = now
    }

    /// There was nothing for the phone up to a position.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
    }

    /// Takes the position up to which everything has settled since the last time; `nil` if nothing has.
    mutating func takeSettled(now: ContinuousClock.Instant) -> Int64? {
        let settled = unsettled.prefix { now - $0.written >= Self.settlingTime }
        unsettled.removeFirst(settled.count)
        return settled.last?.position
    }

    /// Whether the stream has been silent for so long that it must show a sign of life; if so, it has.
    mutating func takeHeartbeat(now: ContinuousClock.Instant) -> Bool {
        guard now - lastWrite >= Self.heartbeatInterval else { return false }
        lastWrite = now
        return true
    }

    /// When there will be something to do even if no message comes.
    var nextWake: ContinuousClock.Instant {
        let heartbeat = lastWrite + Self.heartbeatInterval
        return unsettled.first.map { min($0.written + Self.settlingTime, heartbeat) } ?? heartbeat
    }
}
