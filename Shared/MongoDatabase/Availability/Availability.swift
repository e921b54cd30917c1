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
        let former = outage
        outage = error
        isProbing = error != nil
        guard let error else {
            guard former != nil else { return [] }
            stretch += 1
            return [.announceRecovery]
        }
        return (former?.code == error.code ? [] : [.announceOutage(error)]) + [.probe(afterPause: true)]
    }

    private mutating func probeOnce() -> [Action] {
        guard !isProbing else { return [] }
        isProbing = true
        return [.probe(afterPause: false)]
    }
}
