import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import ServiceKit
import Synchronization

/// Limits the number of requests a minute: of each account, and without a sign-in of each client address. The operator's token has
/// no limit.
final class RequestLimits: Sendable {
    private let accounts: Mutex<TokenBuckets<String>>
    /// By the number of the budget.
    private let addresses = Mutex(AddressBudget.allCases.map { _ in TokenBuckets<IPAddress?>(capacity: 1) })
    private let perAccount: LiveSetting<Int>
    private let perAddress: LiveSetting<Int>
    /// Lookups of credentials that the gateway has no copy of.
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
    /// - Parameter budget: The budget that it counts for without an account.
    /// - Returns: Header fields for the answer.
    /// - Throws: ``Problem`` if the limit is reached.
    func count(
        _ caller: Authentication, from client: IPAddress?, as budget: AddressBudget = .general, at now: NIODeadline = .now()
    ) throws -> HTTPFields {
        guard let account = caller.account else {
            let limit = budget.perMinute(general: perAddress.value)
            let outcome = addresses.withLock {
                $0[budget.number].take(client?.customer, of: limit, at: now)
            }
            try check(
                outcome, limit, policy: budget.rawValue,
                "This address has made \(limit) such requests within a minute without a sign-in.")
            // Answers to anonymous requests have no header fields that depend on the caller.
            return [:]
        }
        guard caller.principal?.isOperator != true else { return [:] }
        let limit = perAccount.value
        let outcome = accounts.withLock { $0.take(account.key, of: limit, at: now) }
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

/// Answers 429 to an account or a client address that makes too many requests. It comes after the middleware that determines the
/// account, and tells the connection that it has one.
struct RequestLimitMiddleware: RouterMiddleware {
    let limits: RequestLimits
    let connections: ConnectionLimit
    /// The budget of requests without a sign-in.
    var budget = AddressBudget.general

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        // Connections that have shown a valid credential are the last to be closed for others.
        if context.authentication.account != nil { connections.showedCredential(context.channel) }
        let fields = try limits.count(context.authentication, from: context.client, as: budget)
        guard !fields.isEmpty else { return try await next(request, context) }
        var response = try await next(request, context)
        for field in fields { response.headers[field.name] = field.value }
        return response
    }
}

/// The budget that a request without a sign-in counts for. Each budget has a separate limit for a client address, so that thousands
/// of phones behind a campus's address do not use up the requests of its portals and sign-ins.
enum AddressBudget: String, CaseIterable, Sendable {
    /// All requests except those of phones.
    case general = "address"
    /// Phones' requests for the cube and for messages.
    case phones
    /// Phones' reports, which the hub stores.
    case receipts
    /// Phones' requests that the hub passes on to Google, whose own limits apply to the hub.
    case phoneTopics = "phone-topics"

    /// Its position among all budgets. As the key of a dictionary it would be hashed as a text.
    fileprivate var number: Int {
        switch self {
        case .general: 0
        case .phones: 1
        case .receipts: 2
        case .phoneTopics: 3
        }
    }

    /// The requests of a client address a minute.
    ///
    /// - Parameter general: The setting, for ``general``.
    func perMinute(general: Int) -> Int {
        switch self {
        case .general: general
        case .phones: general * 4
        case .receipts: max(general / 2, 1)
        case .phoneTopics: max(general / 4, 1)
        }
    }
}

extension Route {
    /// The route whose requests without a sign-in count for a budget.
    func counted(as budget: AddressBudget) -> Route {
        var route = self
        route.budget = budget
        return route
    }
}
