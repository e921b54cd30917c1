import Schemas

/// How many messages may be sent, and how that comes back: at most so many, and every so often some or all of them anew.
struct Allowance: Hashable, Sendable {
    let most: Int
    /// How many come back at a time; all of them, for a bucket that is refilled whole.
    let refill: Int
    /// In milliseconds.
    let every: Int64
    /// When in a period it is refilled: Unix milliseconds, of which only the remainder by ``every`` matters.
    let phase: Int64

    /// How many refills there have been by a moment.
    fileprivate func turn(at now: UnixMilliseconds) -> Int64 {
        let shifted = now - phase
        return shifted >= 0 ? shifted / every : (shifted - every + 1) / every
    }
}

/// What is left of an allowance.
struct Bucket: Hashable, Sendable {
    private var left: Int
    private var turn: Int64

    /// A full one.
    init(_ allowance: Allowance, now: UnixMilliseconds) {
        left = allowance.most
        turn = allowance.turn(at: now)
    }

    /// How much is left now.
    func left(of allowance: Allowance, now: UnixMilliseconds) -> Int {
        let turns = max(0, allowance.turn(at: now) - turn)
        let (gain, isEnormous) = turns.multipliedReportingOverflow(by: Int64(allowance.refill))
        return isEnormous || gain > allowance.most - left ? allowance.most : left + Int(gain)
    }

    /// Takes one.
    ///
    /// - Returns: For how many milliseconds there is none; `nil` where there was one.
    mutating func take(of allowance: Allowance, now: UnixMilliseconds) -> Int64? {
        left = left(of: allowance, now: now)
        // A clock that is set back brings nothing back a second time.
        turn = max(turn, allowance.turn(at: now))
        guard left > 0 else { return (turn + 1) * allowance.every + allowance.phase - now }
        left -= 1
        return nil
    }

    /// Puts one back that was taken and not used.
    mutating func putBack(_ allowance: Allowance) {
        left = min(allowance.most, left + 1)
    }
}
