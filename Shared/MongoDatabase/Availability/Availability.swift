/// Whether the database is there: a value that operations ask before they begin, and tell how they ended.
///
/// When one finds the database away, all others fail at once, with its error, until a probe succeeds. One that takes too long
/// only raises a doubt, which a probe decides: meanwhile the others go on. Only one probe is under way at a time.
struct Availability {
    /// What is to be done after an event.
    enum Action: Equatable {
        /// Say that it is away, or why it is now.
        case announceAway(MongoError)
        case announceBack
        /// Probe, after a pause where the last probe has just failed.
        case probe(afterPause: Bool)
    }

    /// Says which stretch of availability an operation belongs to: how it ends says nothing of a later one.
    struct Ticket: Equatable {
        fileprivate let stretch: Int
    }

    private var stretch = 0
    /// Why it is away.
    private var absence: MongoError?
    private var isProbing = false

    /// Lets an operation begin, or fails it at once.
    func admit() throws(MongoError) -> Ticket {
        if let absence { throw absence }
        return Ticket(stretch: stretch)
    }

    mutating func failed(_ error: MongoError, _ ticket: Ticket) -> [Action] {
        guard error.meansAway, absence == nil, ticket.stretch == stretch else { return [] }
        guard error.code != .timedOut else { return doubted() }
        absence = error
        return [.announceAway(error)] + probeOnce()
    }

    /// An operation takes long.
    mutating func doubted() -> [Action] {
        absence == nil ? probeOnce() : []
    }

    /// - Parameter error: Why the probe failed; `nil` if it succeeded.
    mutating func probed(_ error: MongoError?) -> [Action] {
        let former = absence
        absence = error
        isProbing = error != nil
        guard let error else {
            guard former != nil else { return [] }
            stretch += 1
            return [.announceBack]
        }
        return (former?.code == error.code ? [] : [.announceAway(error)]) + [.probe(afterPause: true)]
    }

    private mutating func probeOnce() -> [Action] {
        guard !isProbing else { return [] }
        isProbing = true
        return [.probe(afterPause: false)]
    }
}
