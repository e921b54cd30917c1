import Base
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// Keeps the canary's subscription: makes it, returns the code of its first push, and makes a new one if it has ended.
final class PushSubscriber: Service {
    enum State: Hashable, Sendable {
        /// The first attempt has not ended.
        case starting
        case subscribed
        /// Why there is none.
        case failed(String)
    }

    private struct Kept {
        var state = State.starting
        /// The one that has proven itself.
        var subscription: PushSubscription?
    }

    private let hub: any PushHub
    private let inbox: PushInbox
    /// The origin of the endpoint.
    private let url: String
    private let interval: Duration
    private let logger: Logger
    private let kept = Mutex(Kept())

    /// How long it waits for the first push.
    private let codeTimeout: Duration

    init(
        hub: any PushHub, inbox: PushInbox, url: String, interval: Duration, codeTimeout: Duration = .seconds(30), logger: Logger
    ) {
        self.hub = hub
        self.inbox = inbox
        self.url = url
        self.interval = interval
        self.codeTimeout = codeTimeout
        self.logger = logger
    }

    var state: State { kept.withLock(\.state) }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await keep()
                do {
                    try await Task.sleep(for: interval)
                } catch {
                    break
                }
            }
        }
    }

    /// Ends the subscription, so that the hub does not push to a canary that is gone.
    func end() async {
        let last = kept.withLock { kept in
            defer { kept = Kept() }
            return kept.subscription
        }
        guard let last else { return }
        do {
            try await hub.unsubscribe(last)
        } catch {
            logger.notice("the subscription was not removed; it ends with the next push", metadata: ["reason": "\(error)"])
        }
    }

    private func keep() async {
        do {
            if let known = kept.withLock(\.subscription) {
                do {
                    try await hub.refresh(known)
                    return
                } catch let failure as HubFailure where failure.status == 404 {
                    logger.notice("the subscription has ended; a new one is made")
                    kept.withLock { $0 = Kept(state: .failed("the subscription had ended")) }
                }
            }
            try await subscribe()
        } catch {
            // A gateway that does not answer does not end the subscription.
            guard !Task.isCancelled, kept.withLock({ $0.subscription == nil }) else { return }
            let earlier = kept.withLock { kept in
                defer { kept.state = .failed("\(error)") }
                return kept.state
            }
            if case .failed = earlier { return }
            logger.warning("no subscription to pushes", metadata: ["reason": "\(error)"])
        }
    }

    private func subscribe() async throws {
        let address = inbox.renew()
        let subscription = try await hub.subscribe(url + PushServer.path + address.name, keys: address.keys)
        try await hub.prove(subscription, code: try await code())
        kept.withLock { $0 = Kept(state: .subscribed, subscription: subscription) }
        logger.info("subscribed to pushes", metadata: ["endpoint": "\(url)"])
    }

    /// - Throws: ``HubFailure`` if the first push does not arrive in time.
    private func code() async throws -> Secret {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < codeTimeout {
            if let code = inbox.code { return code }
            try await Task.sleep(for: CanaryMessage.pause(after: .now - start))
        }
        throw HubFailure(description: "the first push has not arrived within \(codeTimeout)")
    }
}
