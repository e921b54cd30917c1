/// When a push that FCM has accepted may have been in flight. If its outcome was lost in that time, it was sent again. Pure.
///
/// The relay's log does not name the sends of pushes, so any fault that can lose an outcome counts.
struct PushInFlight: Sendable {
    /// How long before its arrival at FCM a send may have been in flight, in milliseconds: the timeout of a request, and a second
    /// in the relay's queue.
    private static let timeBefore: Int64 = 11_000
    /// How long after its arrival it may take to store its outcome, in milliseconds, on a busy machine.
    private static let timeAfter: Int64 = 5_000

    private let time: ClosedRange<Int64>

    /// - Parameters:
    ///   - received: When FCM accepted it, in Unix milliseconds.
    ///   - storing: How long the database may take to store its outcome, in milliseconds.
    init(received: Int64, storing: Int64) {
        time = received - Self.timeBefore...received + max(Self.timeAfter, storing)
    }

    /// Whether a fault can have lost its outcome. While nothing can be stored, and until the database has caught up, the outcome waits in
    /// the message log.
    func canBeDoubled(by injectedFaults: [InjectedFault]) -> Bool {
        let beforeOutage = time.lowerBound - StrayCopy.recovery...time.upperBound
        let outages = injectedFaults.filter { ($0.part == .database || $0.action == .fillDisk) && $0.overlaps(beforeOutage) }
        let end = outages.map { $0.ended + StrayCopy.recovery }.max() ?? time.upperBound
        let inFlight = time.lowerBound...max(time.upperBound, end)
        return injectedFaults.contains { $0.canDoublePush && $0.overlaps(inFlight) }
    }
}

extension InjectedFault {
    /// Whether it can cause the loss of a send's outcome.
    fileprivate var canDoublePush: Bool {
        switch action {
        case .kill, .freeze: Part.relaying.contains(part)
        case .restart: part == .emulator
        case .silenceConnections, .cutOff, .hangResolver, .cutPower: true
        case .replaceEarly, .orphan, .unlinkSocket, .fillDisk, .setClockBack, .setClockForward: false
        }
    }
}
