import Synchronization

/// Whether the database is reachable. Operations ask it before they begin, and report how they ended.
///
/// When an operation finds the database unreachable, all others fail at once with its error, until a probe succeeds. A slow
/// operation only starts a probe, and the others continue. Only one probe runs at a time.
struct Availability {
    /// The reaction to an event.
    enum Action: Equatable {
        /// Log that the database is unreachable, or that the reason has changed.
        case announceOutage(MongoError)
        case announceRecovery
        /// Probe; after a pause if the last probe has just failed.
        case probe(afterPause: Bool)
    }

    /// The period of availability in which an operation began. Its result does not count for a later period.
    struct Ticket: Equatable {
        fileprivate let stretch: Int
    }

    private var stretch = 0
    /// Why the database is unreachable; `nil` if it is reachable.
    private var outage: MongoError?
    private var isProbing = false

    var isAway: Bool { outage != nil }

    /// Lets an operation begin, or fails it at once.
    func admit() throws(MongoError) -> Ticket {
        if let outage { throw outage }
        return Ticket(stretch: stretch)
    }

    mutating func failed(_ error: MongoError, _ ticket: Ticket) -> [Action] {
        guard error.meansUnreachable, outage == nil, ticket.stretch == stretch else { return [] }
        guard error.code != .timedOut else { return slowOperation() }
        outage = error
        return [.announceOutage(error)] + probeOnce()
    }

    /// An operation is slow.
    mutating func slowOperation() -> [Action] {
        outage == nil ? probeOnce() : []
    }

    /// - Parameter error: Why the probe failed; `nil` if it succeeded.
    mutating func probed(_ error: MongoError?) -> [Action] {
        let previous = outage
        outage = error
        isProbing = error != nil
        guard let error else {
            guard previous != nil else { return [] }
            stretch += 1
            return [.announceRecovery]
        }
        return (previous?.code == error.code ? [] : [.announceOutage(error)]) + [.probe(afterPause: true)]
    }

    private mutating func probeOnce() -> [Action] {
        guard !isProbing else { return [] }
        isProbing = true
        return [.probe(afterPause: false)]
    }
}

/// Reports slow operations, which may show a frozen server long before the socket's timeout.
final class SlowOperationWatch: Sendable {
    private struct State {
        var began: [Int: ContinuousClock.Instant] = [:]
        var lastNumber = 0
        var isWatched = false
    }

    private static let slowAfter = Duration.seconds(2)
    private static let pauseBetweenLooks = Duration.milliseconds(500)

    private let state = Mutex(State())

    /// Runs an operation.
    ///
    /// - Parameter doubt: Called repeatedly while any operation takes longer than 2 s.
    func watch<Value>(doubt: @escaping @Sendable () -> Void, _ body: () throws -> Value) rethrows -> Value {
        let (number, isFirst) = state.withLock { state in
            state.lastNumber += 1
            state.began[state.lastNumber] = .now
            defer { state.isWatched = true }
            return (state.lastNumber, !state.isWatched)
        }
        if isFirst { Task { try await checkUntilIdle(doubt) } }
        defer { state.withLock { $0.began[number] = nil } }
        return try body()
    }

    /// Checks until no operation is running.
    private func checkUntilIdle(_ doubt: @Sendable () -> Void) async throws {
        while state.withLock({ state in
            state.isWatched = !state.began.isEmpty
            return state.isWatched
        }) {
            try await Task.sleep(for: Self.pauseBetweenLooks)
            let isOverdue = state.withLock { state in
                state.began.values.contains { ContinuousClock.now - $0 > Self.slowAfter }
            }
            if isOverdue { doubt() }
        }
    }
}
