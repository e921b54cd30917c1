import DequeModule
import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization
import WebPushStore

/// Sends the first push of each subscription, and repeats it while its push service is away. What waits is in memory: after a restart the
/// app subscribes again when it is opened, since it has no code.
final class FirstPushes: Service {
    private struct Waiting: Sendable {
        let id: ObjectID
        let code: Secret
        var due: ContinuousClock.Instant
        var retries = FirstPushes.backoff
    }

    private let subscriptions: Subscriptions
    private let requests: PushRequests
    private let sender: any PushSender
    private let waiting = Mutex<Deque<Waiting>>([])
    private let outage: OutageLog
    private let logger: Logger
    /// Of each push service that has failed, by its name. There are few names, however many hosts strangers invent.
    private let failures = Mutex<[String: OutageLog]>([:])

    /// Beyond it, a push that was not accepted at once is not repeated.
    private static let maxWaiting = 10_000
    private static let maxPerRound = 500
    private static let period = Duration.seconds(1)
    /// How long a repetition may take.
    private static let timeout = Duration.seconds(15)
    private static let backoff = Backoff(first: .seconds(5), max: .seconds(600), jitter: 0.8...1.2)

    init(_ subscriptions: Subscriptions, requests: PushRequests, sender: any PushSender, logger: Logger) {
        self.subscriptions = subscriptions
        self.requests = requests
        self.sender = sender
        self.logger = logger
        outage = OutageLog("first pushes wait", logger: logger)
    }

    /// Sends a new subscription's push. If its push service does not answer, it is repeated later.
    ///
    /// - Throws: ``CommandFailure`` with `invalid` and the field `endpoint` if the push service refuses it. Then the subscription is
    ///   removed.
    func send(to added: Subscriptions.Added, by deadline: ContinuousClock.Instant) async throws {
        let outcome = try await send([(subscription: added.document, code: added.code)], by: deadline)[0]
        guard let failure = outcome else { return }
        guard failure.isTemporary else {
            try await subscriptions.end(added.document.id)
            throw CommandFailure(
                .invalid, "endpoint: the push service does not take the first push: \(failure.error.message)", field: "endpoint")
        }
        var repeated = Waiting(id: added.document.id, code: added.code, due: .now)
        let pause = repeated.retries.failed()
        repeated.due = .now + (failure.error.retryAfter.map { max(pause, Duration($0)) } ?? pause)
        add(repeated)
    }

    func run() async throws {
        await RepeatingService(every: Self.period, outage: outage) { [self] in try await repeatDue() }.run()
    }

    private func add(_ push: Waiting) {
        waiting.withLock { if $0.count < Self.maxWaiting { $0.append(push) } }
    }

    /// Takes out the pushes that are due.
    private func takeDue() -> [Waiting] {
        let now = ContinuousClock.now
        return waiting.withLock { waiting in
            var due: [Waiting] = []
            var rest: Deque<Waiting> = []
            for push in waiting {
                if push.due <= now, due.count < Self.maxPerRound { due.append(push) } else { rest.append(push) }
            }
            waiting = rest
            return due
        }
    }

    private func repeatDue() async throws {
        let due = takeDue()
        guard !due.isEmpty else { return }
        do {
            let found = try await subscriptions.subscriptions(due.map(\.id))
            let unproven = due.filter { push in found[push.id].map { !$0.isProven } ?? false }
            let outcomes = try await send(
                unproven.compactMap { push in found[push.id].map { (subscription: $0, code: push.code) } },
                by: .now + Self.timeout)
            for (push, outcome) in zip(unproven, outcomes) {
                guard let failure = outcome else { continue }
                if failure.isTemporary {
                    var next = push
                    let pause = next.retries.failed()
                    next.due = .now + (failure.error.retryAfter.map { max(pause, Duration($0)) } ?? pause)
                    add(next)
                } else {
                    try await subscriptions.end(push.id)
                }
            }
        } catch {
            // The store is away. A push that was sent is sent once more, and replaces the first one.
            for push in due { add(push) }
            throw error
        }
    }

    /// - Returns: For each, why it was not accepted; `nil` if it was.
    private func send(
        _ pushes: [(subscription: SubscriptionDocument, code: Secret)], by deadline: ContinuousClock.Instant
    ) async throws -> [WebPushFailure?] {
        let now = UnixMilliseconds.now
        var outcomes = [WebPushFailure?](repeating: nil, count: pushes.count)
        var places: [Int] = []
        var sendable: [WebPushRequest] = []
        for (place, push) in pushes.enumerated() {
            let message = FirstPush.message(for: push.subscription, code: push.code)
            var template = PayloadTemplate(message.payload)
            let headers = PushRequests.Headers(message, expires: push.subscription.expires, now: now)
            switch try await requests.request(for: push.subscription, &template, headers, now: now) {
            case .success(let request):
                places.append(place)
                sendable.append(request)
            case .failure(let failure): outcomes[place] = failure
            }
        }
        guard !sendable.isEmpty else { return outcomes }
        for (place, result) in zip(places, await sender.send(sendable, by: deadline)) {
            if case .failure(let failure) = result { outcomes[place] = failure }
            log(result, of: pushes[place].subscription.service)
        }
        return outcomes
    }

    /// Logs one line when the first pushes to a push service begin to fail, and one when it accepts them again.
    private func log(_ result: Result<String, WebPushFailure>, of service: String) {
        switch result {
        case .success: failures.withLock { $0[service] }?.worked()
        case .failure(let failure) where failure.isAboutService: failures(of: service).failed(failure)
        case .failure: break
        }
    }

    private func failures(of service: String) -> OutageLog {
        failures.withLock { failures in
            if let known = failures[service] { return known }
            let new = OutageLog("first pushes to \(service) fail", logger: logger)
            failures[service] = new
            return new
        }
    }
}

extension WebPushFailure {
    /// Whether a later first push may be accepted. An address that is not public is the subscription's fault: it names the host.
    fileprivate var isTemporary: Bool {
        error.class == .retryable && !endsSubscription && !isRefusedAddress
    }

    /// Whether the first pushes of others may fail as well.
    fileprivate var isAboutService: Bool { consequence != .gone && !isRefusedAddress }

    private var isRefusedAddress: Bool { error.code == "REFUSED_ADDRESS" }
}
