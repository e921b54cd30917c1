import Schemas

/// Decides when the outbox looks for due messages and how many it may relay at a time. Pure: events in, decisions out.
///
/// While no relay answers, it does not hand every due message to nobody: it tries with one message, waits longer after each
/// failure, and opens up again with the first answer.
struct OutboxStateMachine: Sendable {
    /// What the outbox has to do next.
    enum Action: Hashable, Sendable {
        /// Claim at most so many due messages, and report with ``claimed(_:of:at:)``.
        case claim(limit: Int)
        /// Nothing before this moment, or before something happens.
        case wait(until: UnixMilliseconds)
    }

    /// How a message's turn ended.
    enum Turn: Hashable, Sendable {
        /// A relay answered, well or badly.
        case answered
        /// No relay did.
        case unanswered
    }

    /// The most messages that are being relayed at a time.
    let capacity: Int
    /// How often to look for messages that became due: retries, and what another instance left behind.
    static let period: Int64 = 1_000
    private static let firstPause: Int64 = 100
    private static let longestPause: Int64 = 2_000

    /// The messages that are being relayed, or are about to be. Leases keep other instances away; this keeps this one from
    /// taking a message twice, whatever becomes of a lease: clocks are set, and databases are away for longer than a lease.
    private(set) var atWork: Set<ObjectID> = []
    private var nextLook: UnixMilliseconds = 0
    private var failuresInARow = 0
    private var pausedUntil: UnixMilliseconds = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Asks to relay a message that is just being logged, without a claim. Granted while there is room and relays answer.
    mutating func reserve(_ msiKey: ObjectID) -> Bool {
        guard failuresInARow == 0, atWork.count < capacity else { return false }
        return atWork.insert(msiKey).inserted
    }

    /// Gives a reservation back: the message was not new, or could not be stored.
    mutating func cancelReservation(of msiKey: ObjectID) {
        atWork.remove(msiKey)
    }

    /// A message was logged that nobody is at work on.
    mutating func logged(at now: UnixMilliseconds) {
        nextLook = min(nextLook, now)
    }

    /// What to do now.
    func next(at now: UnixMilliseconds) -> Action {
        // A clock that was set back must not keep it waiting.
        let earliest = min(max(nextLook, pausedUntil), now + Self.longestPause)
        let room = (failuresInARow == 0 ? capacity : 1) - atWork.count
        guard room > 0 else { return .wait(until: now + Self.period) }
        return earliest <= now ? .claim(limit: room) : .wait(until: earliest)
    }

    /// A claim has brought these messages, of so many that were asked for.
    ///
    /// - Returns: Those that are not at work already.
    mutating func claimed(_ msiKeys: [ObjectID], of limit: Int, at now: UnixMilliseconds) -> Set<ObjectID> {
        let new = Set(msiKeys).subtracting(atWork)
        atWork.formUnion(new)
        // A full claim may have left more behind.
        nextLook = msiKeys.count == limit ? now : now + Self.period
        return new
    }

    /// A claim failed: the database is away.
    mutating func claimFailed(at now: UnixMilliseconds) {
        nextLook = now + Self.period
    }

    /// A message's turn has ended.
    mutating func finished(_ turn: Turn, of msiKey: ObjectID, at now: UnixMilliseconds) {
        atWork.remove(msiKey)
        switch turn {
        case .answered:
            if failuresInARow > 0 { nextLook = now }
            failuresInARow = 0
            pausedUntil = 0
        case .unanswered:
            // Those that were under way together failed together: they count once.
            if pausedUntil <= now {
                let doublings = min(failuresInARow, 10)
                pausedUntil = now + min(Self.longestPause, Self.firstPause << doublings)
                failuresInARow += 1
            }
            nextLook = min(nextLook, pausedUntil)
        }
    }
}
