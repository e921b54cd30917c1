import Base

/// Decides when to request a new access token, and keeps the list of waiters: events in, actions out.
///
/// At most one token request is pending, and all waiters share it. A token is renewed before it expires, and stays in use until then.
/// A failure starts a backoff, during which waiters get that failure.
struct TokenStateMachine<Waiter: Hashable> {
    typealias Instant = ContinuousClock.Instant

    /// The answer to a caller that needs a token. If `requestsNew` is true, the caller must request a new token and
    /// report the result.
    enum Need: Equatable {
        case use(AccessToken, requestsNew: Bool)
        /// Wait until the pending request is answered.
        case wait(requestsNew: Bool)
        case fail(TokenFailure)
    }

    /// The waiters of a finished request, and their result.
    struct Answer: Equatable {
        let waiters: [Waiter]
        let result: Result<AccessToken, TokenFailure>
    }

    private struct Current {
        let token: AccessToken
        let grantedAt: Instant
        let renewAt: Instant
        let goodUntil: Instant
    }

    private enum Request {
        case none
        case pending
        case backingOff(until: Instant, TokenFailure)
    }

    /// How long before its expiry a token is renewed; half of its lifetime if that is shorter.
    private static var renewalMargin: Duration { .seconds(300) }
    /// A token is not used in the last part of its lifetime: it could expire in transit.
    private static var safetyMargin: Duration { .seconds(10) }
    /// Two tokens that are refused within this time are followed by a pause of this length.
    private static var refusalPause: Duration { .seconds(10) }

    private var current: Current?
    private var request = Request.none
    private var backoff = Backoff(first: .seconds(1), max: .seconds(60))
    private var lastRefusal: Instant?
    /// In the order of arrival.
    private var waiters: [Waiter] = []

    /// A caller needs a token, now or as soon as there is one.
    mutating func need(_ waiter: Waiter, now: Instant) -> Need {
        if let use = use(now: now) { return use }
        if case .backingOff(let until, let failure) = request, now < until {
            return .fail(TokenFailure(failure.description, retryAfter: until - now))
        }
        waiters.append(waiter)
        return .wait(requestsNew: beginRequest(now))
    }

    /// The current token, if there is one.
    mutating func use(now: Instant) -> Need? {
        guard let current, now < current.goodUntil else { return nil }
        return .use(current.token, requestsNew: now >= current.renewAt && beginRequest(now))
    }

    /// Whether there is a token that can be used.
    func hasToken(now: Instant) -> Bool {
        current.map { now < $0.goodUntil } ?? false
    }

    /// The age of the token, and for how long it can still be used; `nil` if there is none.
    func life(now: Instant) -> (age: Duration, remaining: Duration)? {
        guard let current, now < current.goodUntil else { return nil }
        return (now - current.grantedAt, current.goodUntil - now)
    }

    /// A token will be needed later.
    ///
    /// - Returns: Whether the caller must request one and report the result.
    mutating func prepare(now: Instant) -> Bool {
        current == nil && beginRequest(now)
    }

    /// A waiter gives up.
    ///
    /// - Returns: Whether it was still waiting.
    mutating func leave(_ waiter: Waiter) -> Bool {
        guard let index = waiters.firstIndex(of: waiter) else { return false }
        waiters.remove(at: index)
        return true
    }

    /// The pending request has returned a token.
    mutating func granted(_ granted: GrantedToken, now: Instant) -> Answer {
        let life = granted.lifetime
        current = Current(
            token: granted.token, grantedAt: now, renewAt: now + life - min(Self.renewalMargin, life / 2),
            goodUntil: now + life - min(Self.safetyMargin, life / 10))
        request = .none
        backoff.succeeded()
        return answer(.success(granted.token))
    }

    /// The pending request has failed.
    mutating func failed(_ failure: TokenFailure, now: Instant) -> Answer {
        let pause = backoff.failed()
        request = .backingOff(until: now + pause, failure)
        return answer(.failure(TokenFailure(failure.description, retryAfter: pause)))
    }

    /// FCM has refused a token. The current one is not used again. An older one has been replaced already.
    mutating func invalidate(_ token: AccessToken, now: Instant) {
        guard let current, current.token == token else { return }
        self.current = nil
        // If the second token is refused as well, further ones would be refused too.
        if let lastRefusal, now - lastRefusal < Self.refusalPause, case .none = request {
            request = .backingOff(
                until: now + Self.refusalPause, TokenFailure("FCM refuses the tokens that it is sent"))
        }
        lastRefusal = now
    }

    private mutating func beginRequest(_ now: Instant) -> Bool {
        switch request {
        case .pending: return false
        case .backingOff(let until, _) where now < until: return false
        case .none, .backingOff:
            request = .pending
            return true
        }
    }

    private mutating func answer(_ result: Result<AccessToken, TokenFailure>) -> Answer {
        defer { waiters = [] }
        return Answer(waiters: waiters, result: result)
    }
}
