import CoreMetrics
import FoundationEssentials
import HTTPTransport
import Instruments
import Logging
import Synchronization

/// The access token that all sends share.
final class AccessTokenSource: Sendable {
    private typealias Waiting = CheckedContinuation<Result<AccessToken, TokenFailure>, Never>

    private struct State {
        var machine = TokenStateMachine<UInt64>()
        var waiting: [UInt64: Waiting] = [:]
        /// Why the last request for a token failed, if it did.
        var outage: Outage?
    }

    private let granter: any TokenGranter
    private let logger: Logger
    private let clock = ContinuousClock()
    private let ids = Atomic<UInt64>(0)
    private let state = Mutex(State())

    private let counts: (ok: Counter, failed: Counter)

    /// - Parameter project: The project in the metrics.
    init(granter: any TokenGranter, project: String, logger: Logger) {
        self.granter = granter
        let requests = Instrument.fcmTokenRequests
        counts = (
            requests.counter(["project": project, "outcome": "ok"]), requests.counter(["project": project, "outcome": "failed"])
        )
        self.logger = logger
    }

    /// Requests a token before the first send needs it.
    func prepare() {
        if state.withLock({ $0.machine.prepare(now: clock.now) }) { requestToken() }
    }

    /// Why there is no token; `nil` if there is one, or if no request for one has failed.
    var outage: Outage? {
        state.withLock { $0.machine.hasToken(now: clock.now) ? nil : $0.outage }
    }

    /// Sets the gauges of the token.
    func collectMetrics(of project: String) {
        let life = state.withLock { $0.machine.life(now: clock.now) }
        Instrument.fcmTokenAge.gauge(["project": project]).set((life?.age ?? .zero) / .seconds(1))
        Instrument.fcmTokenRemaining.gauge(["project": project]).set((life?.remaining ?? .zero) / .seconds(1))
    }

    /// The current token, or the next one if there is none.
    ///
    /// - Parameter deadline: When to give up waiting.
    @inline(__always)
    func token(by deadline: ContinuousClock.Instant) async throws(TokenFailure) -> AccessToken {
        if let token = current() { return token }
        return try await next(by: deadline)
    }

    private func current() -> AccessToken? {
        guard case .use(let token, let requestsNew) = state.withLock({ $0.machine.use(now: clock.now) }) else { return nil }
        if requestsNew { requestToken() }
        return token
    }

    private func next(by deadline: ContinuousClock.Instant) async throws(TokenFailure) -> AccessToken {
        let id = ids.add(1, ordering: .relaxed).newValue
        // Cancelled when this scope ends.
        async let _: Void = leave(id, at: deadline)
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(id, continuation)
                // The handler below may have run before the task was a waiter.
                if Task.isCancelled { leave(id, TokenFailure("the wait for the access token was cancelled")) }
            }
        } onCancel: {
            leave(id, TokenFailure("the wait for the access token was cancelled"))
        }.get()
    }

    /// Stops using a token that FCM has refused.
    func invalidate(_ token: AccessToken) {
        state.withLock { $0.machine.invalidate(token, now: clock.now) }
    }

    private func wait(_ id: UInt64, _ continuation: Waiting) {
        let need = state.withLock { state in
            let need = state.machine.need(id, now: clock.now)
            if case .wait = need { state.waiting[id] = continuation }
            return need
        }
        switch need {
        case .use(let token, let requestsNew):
            if requestsNew { requestToken() }
            continuation.resume(returning: .success(token))
        case .wait(let requestsNew):
            if requestsNew { requestToken() }
        case .fail(let failure):
            continuation.resume(returning: .failure(failure))
        }
    }

    private func leave(_ id: UInt64, at deadline: ContinuousClock.Instant) async {
        do {
            try await clock.sleep(until: deadline)
        } catch {
            // The wait has ended.
            return
        }
        leave(id, TokenFailure("no access token in time"))
    }

    private func leave(_ id: UInt64, _ failure: TokenFailure) {
        let continuation = state.withLock { state in
            state.machine.leave(id) ? state.waiting.removeValue(forKey: id) : nil
        }
        continuation?.resume(returning: .failure(failure))
    }

    /// Requests a token on a separate task. The token is for all waiters, so the task continues when the first of them leaves. It
    /// ends by itself, because the granter has a timeout.
    private func requestToken() {
        Task {
            do throws(TokenFailure) {
                let granted = try await granter.grant()
                counts.ok.increment()
                logger.debug("got an access token", metadata: ["lifetime": "\(granted.lifetime)"])
                state.withLock { $0.outage = nil }
                finish { $0.granted(granted, now: $1) }
            } catch {
                counts.failed.increment()
                logger.warning("no access token", metadata: ["code": "OAUTH", "error": "\(error)"])
                state.withLock { $0.outage = Outage(code: "OAUTH", message: error.description, after: $0.outage) }
                finish { $0.failed(error, now: $1) }
            }
        }
    }

    private func finish(
        _ event: (inout TokenStateMachine<UInt64>, ContinuousClock.Instant) -> TokenStateMachine<UInt64>.Answer
    ) {
        let (waiting, result) = state.withLock { state in
            let answer = event(&state.machine, clock.now)
            return (answer.waiters.compactMap { state.waiting.removeValue(forKey: $0) }, answer.result)
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }
}

/// The sender's credential for FCM. It is a secret: its descriptions do not contain it, and it must not be logged.
struct AccessToken: Hashable, Sendable {
    let value: String
    /// The header lines of a JSON request with the token, made once for all requests.
    let headers: [String]

    init(value: String) {
        self.value = value
        headers = ["content-type: application/json", "authorization: Bearer \(value)"]
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "an access token" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An access token and its lifetime.
struct GrantedToken: Hashable, Sendable {
    let token: AccessToken
    let lifetime: Duration
}

/// Why there is no access token.
struct TokenFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence, at most 200 characters.
    let description: String
    /// The minimum wait before the next request for a token.
    var retryAfter: Duration?

    init(_ description: String, retryAfter: Duration? = nil) {
        self.description = String(description.prefix(200))
        self.retryAfter = retryAfter
    }
}
