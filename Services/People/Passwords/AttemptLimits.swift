import Base

/// Limits wrong passwords: after some of them, each further attempt must wait twice as long as the one before. Pure: the caller passes
/// the time.
///
/// An attempt counts as wrong from its beginning, so that simultaneous attempts are limited as well. Attempts for names without an
/// account count in the same way.
///
/// The limit that matters is that of an account and an address together, so that no one can lock out a person at another address. The
/// limits of an account over all addresses and of an address over all accounts are for attacks from many addresses and with many names.
/// They do not apply to an account at an address that recently sent its correct password. So nobody else, even behind the same address,
/// can lock that account out there.
///
/// A sign-in has its own limit for confirmations, and its account has one over all its sign-ins: a person who can sign in at the OpenID
/// Connect provider can have any number of sign-ins.
struct AttemptLimits: Sendable {
    /// What an attempt is for.
    enum Purpose: Hashable, Sendable {
        /// Signing in. The address is `nil` if it is unknown.
        case signIn(account: String, address: String?)
        /// Confirming the password while signed in. People who are not signed in cannot cause waits here. The account is `nil` if `of`
        /// names the account itself.
        case confirmation(of: String, account: String? = nil)
    }

    struct Attempt: Hashable, Sendable {
        let purpose: Purpose
        /// Whether the person is signed in, or the account's correct password recently came from this address.
        fileprivate(set) var isKnown = true
        /// The account for which it counts over all addresses; `nil` if it does not.
        fileprivate var account: String?
        /// The address for which it counts over all accounts; `nil` if it does not.
        fileprivate var address: String?
        /// The account for whose confirmations it counts over all sign-ins; `nil` if it does not.
        fileprivate var confirming: String?
    }

    enum Beginning: Hashable, Sendable {
        case attempt(Attempt)
        /// Nothing is counted.
        case wait(Duration)
    }

    /// A limit that has come into force.
    struct Report: Hashable, Sendable {
        enum Scope: Hashable, Sendable {
            case purpose
            case account
            case address
        }

        let scope: Scope
        /// The wrong attempts so far.
        let attempts: Int
    }

    private var purposes: AttemptTable<Purpose>
    private var accounts: AttemptTable<String>
    private var addresses: AttemptTable<String>
    private var confirmations: AttemptTable<String>
    /// The accounts and addresses with a right password, and when they had it last.
    private var known: [Purpose: ContinuousClock.Instant] = [:]
    static let knownLifetime = Duration.seconds(30 * 86_400)
    static let maxKnown = 10_000

    /// - Parameters:
    ///   - purpose: For each account and address, and for each sign-in.
    ///   - account: For each account over all addresses.
    ///   - address: For each address over all accounts. A campus shares addresses.
    ///   - confirmation: For the confirmations of each account over all its sign-ins.
    init(
        purpose: AttemptLimit = AttemptLimit(free: 5), account: AttemptLimit = AttemptLimit(free: 50),
        address: AttemptLimit = AttemptLimit(free: 50), confirmation: AttemptLimit = AttemptLimit(free: 20)
    ) {
        purposes = AttemptTable(purpose)
        accounts = AttemptTable(account)
        addresses = AttemptTable(address)
        confirmations = AttemptTable(confirmation)
    }

    /// Begins an attempt.
    mutating func begin(_ purpose: Purpose, now: ContinuousClock.Instant) -> Beginning {
        var wait = purposes.wait(for: purpose, now: now)
        var attempt = Attempt(purpose: purpose)
        switch purpose {
        case .signIn(let account, let address):
            guard !isKnown(purpose, now: now) else { break }
            attempt.isKnown = false
            wait = max(wait, accounts.wait(for: account, now: now))
            // One address alone cannot bring the account to its limit.
            if !purposes.isLimited(purpose, now: now) || accounts.isLimited(account, now: now) { attempt.account = account }
            if let address {
                wait = max(wait, addresses.wait(for: address, now: now))
                attempt.address = address
            }
        case .confirmation(_, let account?):
            wait = max(wait, confirmations.wait(for: account, now: now))
            // Nor can one sign-in alone.
            if !purposes.isLimited(purpose, now: now) || confirmations.isLimited(account, now: now) {
                attempt.confirming = account
            }
        case .confirmation(_, nil): break
        }
        guard wait <= .zero else { return .wait(wait) }
        purposes.count(purpose, now: now)
        if let account = attempt.account { accounts.count(account, now: now) }
        if let address = attempt.address { addresses.count(address, now: now) }
        if let account = attempt.confirming { confirmations.count(account, now: now) }
        return .attempt(attempt)
    }

    /// The password was right.
    mutating func succeeded(_ attempt: Attempt, now: ContinuousClock.Instant) {
        purposes.forget(attempt.purpose)
        uncountElsewhere(attempt)
        remember(attempt.purpose, at: now)
    }

    /// The password of a sign-in was right at a time, which may be before this process began.
    mutating func remember(_ purpose: Purpose, at moment: ContinuousClock.Instant) {
        guard case .signIn = purpose, known[purpose].map({ $0 < moment }) ?? true else { return }
        if known[purpose] == nil, known.count >= Self.maxKnown, let oldest = known.min(by: { $0.value < $1.value }) {
            known[oldest.key] = nil
        }
        known[purpose] = moment
    }

    /// The password was not checked, or it was right and more is asked for, such as a code.
    mutating func cancelled(_ attempt: Attempt) {
        purposes.uncount(attempt.purpose)
        uncountElsewhere(attempt)
    }

    /// The password was wrong.
    ///
    /// - Returns: The limits that have come into force, each once an hour.
    mutating func failed(_ attempt: Attempt, now: ContinuousClock.Instant) -> [Report] {
        var reports: [Report] = []
        func add(_ scope: Report.Scope, _ attempts: Int?) {
            if let attempts { reports.append(Report(scope: scope, attempts: attempts)) }
        }
        add(.purpose, purposes.report(attempt.purpose, now: now))
        if let account = attempt.account { add(.account, accounts.report(account, now: now)) }
        if let address = attempt.address { add(.address, addresses.report(address, now: now)) }
        if let account = attempt.confirming { add(.account, confirmations.report(account, now: now)) }
        return reports
    }

    private mutating func uncountElsewhere(_ attempt: Attempt) {
        if let account = attempt.account { accounts.uncount(account) }
        if let address = attempt.address { addresses.uncount(address) }
        if let account = attempt.confirming { confirmations.uncount(account) }
    }

    private func isKnown(_ purpose: Purpose, now: ContinuousClock.Instant) -> Bool {
        known[purpose].map { $0 + Self.knownLifetime > now } ?? false
    }
}

/// The limit of one kind of key.
struct AttemptLimit: Sendable {
    /// The number of wrong attempts without a wait.
    let free: Int
    var wait = Backoff(first: .seconds(1), max: .seconds(60))
    /// Wrong attempts are forgotten after this time without another one.
    var memory = Duration.seconds(900)
    /// The maximum number of keys; those with the oldest attempts are forgotten first.
    var maxKeys = 10_000
}

/// The wrong attempts by key. Pure.
struct AttemptTable<Key: Hashable & Sendable>: Sendable {
    /// A key at its limit is reported once in this time.
    private static var reportPeriod: Duration { .seconds(3_600) }

    private struct Entry {
        var failures = 0
        var last: ContinuousClock.Instant
        var next: ContinuousClock.Instant
        var reported: ContinuousClock.Instant?
    }

    private let limit: AttemptLimit
    private var entries: [Key: Entry] = [:]

    init(_ limit: AttemptLimit) {
        self.limit = limit
    }

    /// How long the next attempt has to wait.
    func wait(for key: Key, now: ContinuousClock.Instant) -> Duration {
        guard let entry = entries[key], entry.last + limit.memory > now else { return .zero }
        return now.duration(to: entry.next)
    }

    /// Whether the next attempt of this key must wait: its attempts without a wait are used up.
    func isLimited(_ key: Key, now: ContinuousClock.Instant) -> Bool {
        guard let entry = entries[key], entry.last + limit.memory > now else { return false }
        return entry.failures >= limit.free
    }

    mutating func count(_ key: Key, now: ContinuousClock.Instant) {
        if entries[key] == nil, entries.count >= limit.maxKeys { makeRoom(now: now) }
        var entry = entries[key] ?? Entry(last: now, next: now)
        if entry.last + limit.memory <= now { entry = Entry(last: now, next: now) }
        entry.failures += 1
        entry.last = now
        setWait(&entry)
        entries[key] = entry
    }

    mutating func uncount(_ key: Key) {
        guard var entry = entries[key] else { return }
        entry.failures -= 1
        setWait(&entry)
        entries[key] = entry.failures > 0 ? entry : nil
    }

    mutating func forget(_ key: Key) {
        entries[key] = nil
    }

    /// The number of wrong attempts, if the key is at its limit and this was not reported within an hour.
    mutating func report(_ key: Key, now: ContinuousClock.Instant) -> Int? {
        guard let entry = entries[key], entry.failures >= limit.free,
            entry.reported.map({ $0 + Self.reportPeriod <= now }) ?? true
        else { return nil }
        entries[key]?.reported = now
        return entry.failures
    }

    private func setWait(_ entry: inout Entry) {
        let waits = entry.failures - limit.free
        entry.next = waits >= 0 ? entry.last + limit.wait.pause(after: waits + 1) : entry.last
    }

    /// Forgets a tenth of the keys, so that it is rarely necessary.
    private mutating func makeRoom(now: ContinuousClock.Instant) {
        entries = entries.filter { $0.value.last + limit.memory > now }
        let excess = entries.count - (limit.maxKeys - max(1, limit.maxKeys / 10))
        guard excess > 0 else { return }
        for (key, _) in entries.sorted(by: { $0.value.last < $1.value.last }).prefix(excess) { entries[key] = nil }
    }
}
