/// Whether the database is there: a value that operations ask before they begin, and tell how they ended.
///
/// When one finds the database away, all others fail at once, with its error, until a probe succeeds. Only one probe is
/// under way at a time.
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

    /// Lets an operation begin, or fails it at once.
    func admit() throws(MongoError) -> Ticket {
        if let absence { throw absence }
        return Ticket(stretch: stretch)
    }

    mutating func failed(_ error: MongoError, _ ticket: Ticket) -> [Action] {
        guard error.meansAway, absence == nil, ticket.stretch == stretch else { return [] }
        absence = error
        return [.announceAway(error), .probe(afterPause: false)]
    }

    /// - Parameter error: Why the probe failed; `nil` if it succeeded.
    mutating func probed(_ error: MongoError?) -> [Action] {
        let former = absence
        absence = error
        guard let error else {
            stretch += 1
            return former == nil ? [] : [.announceBack]
        }
        return (former?.code == error.code ? [] : [.announceAway(error)]) + [.probe(afterPause: true)]
    }
}
