import Testing
import Base

@testable import People

@Suite("Limits of sign-in attempts")
struct AttemptLimitsTests {
    private let start = ContinuousClock.now

    private func limit(free: Int, maxKeys: Int = 100) -> AttemptLimit {
        AttemptLimit(
            free: free, wait: Backoff(first: .seconds(1), max: .seconds(8)), memory: .seconds(60), maxKeys: maxKeys)
    }

    private func limits(
        purpose: Int = 1_000, account: Int = 1_000, address: Int = 1_000, confirmation: Int = 1_000
    ) -> Attempts {
        Attempts(
            AttemptLimits(
                purpose: limit(free: purpose), account: limit(free: account), address: limit(free: address),
                confirmation: limit(free: confirmation)),
            now: start)
    }

    @Test("After the free attempts, each wait is twice as long as the one before, up to a maximum")
    func growingWaits() {
        var limits = limits(purpose: 3)
        for _ in 0..<3 { #expect(limits.fail("ann", "1") == nil) }
        for wait in [1, 2, 4, 8, 8] {
            #expect(limits.fail("ann", "1") == .seconds(wait))
            // A refused attempt does not count.
            #expect(limits.fail("ann", "1") == .seconds(wait))
            #expect(limits.succeed("bob", "1") == nil)
            limits.now += .seconds(wait)
            #expect(limits.fail("ann", "1") == nil)
        }
    }

    @Test("Wrong passwords from one address do not make the account wait at another one")
    func noLockOut() {
        var limits = limits(purpose: 5, account: 6)
        for _ in 0..<100 {
            if let wait = limits.fail("ann", "attacker") { limits.now += wait }
            #expect(limits.wait("ann", "1") == nil)
        }
    }

    @Test("Wrong passwords from many addresses make new addresses wait, but none with a recent right password")
    func manyAddresses() {
        var limits = limits(purpose: 2, account: 6)
        #expect(limits.succeed("ann", "home") == nil)
        for address in ["a", "b", "c"] {
            for _ in 0..<2 { #expect(limits.fail("ann", address) == nil) }
        }
        #expect(limits.wait("ann", "new") == .seconds(1))
        #expect(limits.wait("ann", "home") == nil && limits.wait("bob", "new") == nil)
        limits.now += .seconds(1)
        // An account at its limit counts every attempt.
        #expect(limits.fail("ann", "a") == nil)
        #expect(limits.wait("ann", "new") == .seconds(2))
        // A right password from a known address does not help the attackers.
        #expect(limits.succeed("ann", "home") == nil)
        #expect(limits.wait("ann", "new") == .seconds(2))
    }

    @Test("A person who is signed in confirms the password, whatever others try")
    func confirmations() {
        var limits = limits(purpose: 1, account: 1, address: 1)
        _ = limits.fail("ann", "1")
        #expect(limits.wait("ann", "1") != nil)
        #expect(limits.fail(.confirmation(of: "mine")) == nil)
        #expect(limits.fail(.confirmation(of: "mine")) == .seconds(1))
        #expect(limits.fail(.confirmation(of: "other")) == nil)
    }

    @Test("The confirmations of an account are limited over all its sign-ins, but one sign-in makes no other one wait")
    func confirmationsOfAccount() {
        func confirmation(_ signIn: String, _ account: String) -> AttemptLimits.Purpose {
            .confirmation(of: signIn, account: account)
        }
        var limits = limits(purpose: 2, confirmation: 5)
        for _ in 0..<100 {
            if let wait = limits.fail(confirmation("stolen", "ann")) { limits.now += wait }
            #expect(limits.wait(confirmation("mine", "ann")) == nil)
        }
        for signIn in ["a", "a", "b", "b", "c"] { #expect(limits.fail(confirmation(signIn, "bob")) == nil) }
        #expect(limits.reports == [.init(scope: .account, attempts: 5)])
        for signIn in ["c", "d"] { #expect(limits.wait(confirmation(signIn, "bob")) == .seconds(1)) }
        #expect(limits.wait(confirmation("e", "eve")) == nil && limits.wait("bob", "1") == nil)
        // An account at its limit counts every attempt.
        limits.now += .seconds(1)
        #expect(limits.fail(confirmation("a", "bob")) == nil)
        #expect(limits.wait(confirmation("d", "bob")) == .seconds(2))
    }

    @Test("An address is limited over all accounts, and another address is not")
    func addresses() {
        var limits = limits(address: 3)
        for name in ["ann", "bob", "eve"] { #expect(limits.fail(name, "1") == nil) }
        #expect(limits.wait("dan", "1") == .seconds(1))
        #expect(limits.wait("dan", "2") == nil && limits.wait("dan", nil) == nil)
    }

    @Test("Those whose correct password recently came from an address need not wait for its limit, and do not count towards it")
    func sharedAddress() {
        var limits = limits(address: 3)
        #expect(limits.succeed("ann", "campus") == nil)
        limits.limits.remember(.signIn(account: "bob", address: "campus"), at: start - .seconds(29 * 86_400))
        limits.limits.remember(.signIn(account: "eve", address: "campus"), at: start - .seconds(31 * 86_400))
        for _ in 0..<10 { #expect(limits.fail("ann", "campus") == nil) }
        for name in ["x", "y", "z"] { #expect(limits.fail(name, "campus") == nil) }
        #expect(limits.wait("ann", "campus") == nil && limits.wait("bob", "campus") == nil)
        #expect(limits.wait("eve", "campus") == .seconds(1) && limits.wait("dan", "campus") == .seconds(1))
        // A right password from a known address does not help the attackers.
        #expect(limits.succeed("bob", "campus") == nil)
        #expect(limits.wait("dan", "campus") == .seconds(1))
    }

    @Test("A right password clears the attempts of its account and address, and does not count for the address")
    func success() {
        var limits = limits(purpose: 2, address: 3)
        for _ in 0..<10 { #expect(limits.succeed("ann", "1") == nil) }
        for _ in 0..<10 { #expect(limits.cancel(.signIn(account: "ann", address: "1")) == nil) }
        for _ in 0..<2 { #expect(limits.fail("ann", "1") == nil) }
        #expect(limits.wait("ann", "1") != nil)
    }

    @Test("Wrong attempts are forgotten after a while")
    func memory() {
        var limits = limits(purpose: 1)
        #expect(limits.fail("ann", "1") == nil)
        #expect(limits.wait("ann", "1") != nil)
        limits.now += .seconds(60)
        #expect(limits.fail("ann", "1") == nil)
        #expect(limits.wait("ann", "1") == .seconds(1))
    }

    @Test("The number of remembered names is limited: those with the oldest attempts are forgotten")
    func bound() {
        var table = AttemptTable<String>(limit(free: 1, maxKeys: 3))
        for (index, name) in ["a", "b", "c", "d"].enumerated() { table.count(name, now: start + .milliseconds(index)) }
        let now = start + .milliseconds(10)
        #expect(["b", "c", "d"].allSatisfy { table.isLimited($0, now: now) } && !table.isLimited("a", now: now))
    }

    @Test("A limit is reported when it comes into force, and then once an hour")
    func reports() {
        var limits = limits(purpose: 2, address: 3)
        var reports: [AttemptLimits.Report] = []
        for name in ["ann", "ann", "ann", "bob"] {
            if let wait = limits.wait(name, "1") { limits.now += wait }
            _ = limits.fail(name, "1")
            reports += limits.reports
        }
        #expect(
            reports == [.init(scope: .purpose, attempts: 2), .init(scope: .address, attempts: 3)])
        for _ in 0..<2_000 {
            if let wait = limits.fail("ann", "1") { limits.now += wait } else { reports += limits.reports }
        }
        let hours = start.duration(to: limits.now) / Duration.seconds(3_600)
        #expect(reports.count { $0.scope == .purpose } == 1 + Int(hours))
    }
}

/// Limits with a clock.
private struct Attempts {
    var limits: AttemptLimits
    var now: ContinuousClock.Instant
    /// Of the last wrong password.
    var reports: [AttemptLimits.Report] = []

    init(_ limits: AttemptLimits, now: ContinuousClock.Instant) {
        self.limits = limits
        self.now = now
    }

    /// How long an attempt would have to wait; `nil` if it need not.
    func wait(_ account: String, _ address: String?) -> Duration? {
        wait(.signIn(account: account, address: address))
    }

    func wait(_ purpose: AttemptLimits.Purpose) -> Duration? {
        var copy = self
        return copy.cancel(purpose)
    }

    mutating func fail(_ account: String, _ address: String?) -> Duration? {
        fail(.signIn(account: account, address: address))
    }

    mutating func fail(_ purpose: AttemptLimits.Purpose) -> Duration? {
        attempt(purpose) { limits, attempt, now in limits.failed(attempt, now: now) }
    }

    mutating func succeed(_ account: String, _ address: String?) -> Duration? {
        attempt(.signIn(account: account, address: address)) { limits, attempt, now in
            limits.succeeded(attempt, now: now)
            return []
        }
    }

    mutating func cancel(_ purpose: AttemptLimits.Purpose) -> Duration? {
        attempt(purpose) { limits, attempt, _ in
            limits.cancelled(attempt)
            return []
        }
    }

    private mutating func attempt(
        _ purpose: AttemptLimits.Purpose,
        _ end: (inout AttemptLimits, AttemptLimits.Attempt, ContinuousClock.Instant) -> [AttemptLimits.Report]
    ) -> Duration? {
        switch limits.begin(purpose, now: now) {
        case .attempt(let attempt):
            reports = end(&limits, attempt, now)
            return nil
        case .wait(let wait): return wait
        }
    }
}
