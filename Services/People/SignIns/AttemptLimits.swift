import Time

/// Limits wrong passwords: after some of them, each further attempt has to wait, twice as long as the one before. Pure: the caller
/// gives the time.
///
/// An attempt counts as wrong from its beginning, so that simultaneous attempts are limited as well. Names that are no accounts count
/// in the same way.
///
/// The limit that matters is that of an account and an address together, so that no one can lock out a person at another address. The
/// limits of an account over all addresses and of an address over all accounts are for attacks from many addresses and with many names.
/// They do not concern an account at an address from which its right password came lately: others, also behind the same address,
/// cannot bring these limits down on it.
///
/// In the same way a sign-in has its own limit for confirmations, and its account one over all its sign-ins, since a person who can
/// sign in at the OpenID Connect provider can have any number of them.
struct AttemptLimits: Sendable {
    /// What an attempt is for.
    enum Purpose: Hashable, Sendable {
        /// Signing in. The address is `nil` if it is unknown.
        case signIn(account: String, address: String?)
        /// The password again, by someone who is signed in. Those who are not cannot cause waits here. The account is `nil` if the
        /// confirmation is of the account itself.
        case confirmation(of: String, account: String? = nil)
    }

    struct Attempt: Hashable, Sendable {
        let purpose: Purpose
        /// Whether it is of someone who is signed in, or of an account at an address from which its right password came lately.
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

    /// The password was not checked, or it was right and only the code is missing.
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
