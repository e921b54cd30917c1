import HTTPTypes
import NIOCore
import Schemas
import ServiceKit
import Synchronization

/// Limits the number of requests a minute: of each account, and without a sign-in of each client address. The operator's token has
/// no limit.
final class RequestLimits: Sendable {
    private let accounts: Mutex<TokenBuckets<String>>
    private let addresses = Mutex<[AddressBudget: TokenBuckets<IPAddress?>]>([:])
    private let perAccount: LiveSetting<Int>
    private let perAddress: LiveSetting<Int>
    /// Checks of credentials that the gateway does not know.
    private let lookups = Mutex(TokenBuckets<IPAddress?>(capacity: 6_000))

    /// - Parameters:
    ///   - perAccount: The requests of an account a minute.
    ///   - perAddress: The requests of a client address a minute, for ``AddressBudget/general``.
    init(perAccount: LiveSetting<Int>, perAddress: LiveSetting<Int>) {
        accounts = Mutex(TokenBuckets(capacity: perAccount.value))
        self.perAccount = perAccount
        self.perAddress = perAddress
    }

    /// Counts a request.
    ///
    /// - Parameter budget: What it counts as without a sign-in.
    /// - Returns: Header fields for the answer.
    /// - Throws: ``Problem`` if the limit is reached.
    func count(
        _ principal: Principal?, from client: IPAddress?, as budget: AddressBudget = .general, at now: NIODeadline = .now()
    ) throws -> HTTPFields {
        guard let principal else {
            let limit = budget.perMinute(general: perAddress.value)
            let outcome = addresses.withLock {
                $0[budget, default: TokenBuckets(capacity: limit)].take(client?.customer, of: limit, at: now)
            }
            try check(
                outcome, limit, policy: budget.rawValue,
                "This address has made \(limit) such requests within a minute without a sign-in.")
            // Open answers have no header fields for each caller.
            return [:]
        }
        guard !principal.isOperator else { return [:] }
        let limit = perAccount.value
        let outcome = accounts.withLock { $0.take(principal.account.key, of: limit, at: now) }
        try check(outcome, limit, policy: "account", "The account has made \(limit) requests within a minute.")
        return Self.fields(of: outcome, limit, policy: "account")
    }

    /// Counts a request with a credential of which the gateway has no copy.
    ///
    /// - Throws: ``Problem`` if an address has sent too many of them.
    func countLookup(from client: IPAddress?, at now: NIODeadline = .now()) throws {
        let (outcome, limit) = lookups.withLock { ($0.take(client?.customer, at: now), $0.capacity) }
        try check(
            outcome, limit, policy: "credentials", "This address has sent \(limit) new credentials within a minute.")
    }

    private func check(_ outcome: TokenOutcome, _ limit: Int, policy: String, _ detail: String) throws {
        guard let wait = outcome.wait else { return }
        var fields = Self.fields(of: outcome, limit, policy: policy)
        fields[.retryAfter] = String(wait.wholeSeconds)
        throw Problem(.tooManyRequests, detail, headers: fields)
    }

    /// The fields of the IETF's draft "RateLimit header fields for HTTP".
    private static func fields(of outcome: TokenOutcome, _ limit: Int, policy: String) -> HTTPFields {
        [
            .rateLimitPolicy: "\"\(policy)\";q=\(limit);w=60",
            .rateLimit: "\"\(policy)\";r=\(outcome.remaining);t=\(outcome.reset.wholeSeconds)",
        ]
    }
}
