import CoreMetrics
import Base
import Instruments
import Logging
import Schemas
import Synchronization

/// Waits for the pushes of the canary's messages to its own subscription.
final class PushWatch: Sendable {
    /// How a message's push ended.
    enum Outcome: String, CaseIterable, Sendable {
        case received
        /// It came after more than two intervals.
        case late
        /// The hub has not accepted the message.
        case notStored = "not_stored"
        /// There was no subscription when the message was posted.
        case notSubscribed = "not_subscribed"
        case notReceived = "not_received"

        var isDelivered: Bool { self == .received || self == .late }
    }

    /// A push that has ended.
    private struct Ended {
        /// When its message was posted.
        let posted: ContinuousClock.Instant
        let push: CanaryText.Push
    }

    private let inbox: PushInbox
    private let subscriber: PushSubscriber
    private let metrics: PushMetrics
    private let log: CanaryLog
    /// That of the newest message.
    private let last = Mutex<Ended?>(nil)

    init(inbox: PushInbox, subscriber: PushSubscriber, metrics: PushMetrics, logger: Logger) {
        self.inbox = inbox
        self.subscriber = subscriber
        self.metrics = metrics
        log = CanaryLog(one: "a push", many: "pushes", logger: logger)
    }

    /// The state of the subscription, which is read before a message is posted.
    var subscription: PushSubscriber.State { subscriber.state }

    /// How the last push has ended, for the text of the next message.
    var report: CanaryText.Push {
        last.withLock { $0?.push } ?? .missing(reason: "none has ended since the start of the canary")
    }

    /// The hub has not accepted a message.
    func refused(_ reason: String, posted start: ContinuousClock.Instant) { end(.notStored, reason, nil, posted: start) }

    /// Waits until a stored message's push has arrived.
    ///
    /// - Parameter subscription: The state before the post. While the first subscription is made, messages do not count.
    func follow(
        _ msiKey: ObjectID, _ message: CanaryMessage, posted start: ContinuousClock.Instant, subscription: PushSubscriber.State
    ) async {
        switch subscription {
        case .starting: return
        case .failed(let reason): return end(.notSubscribed, reason, msiKey, posted: start)
        case .subscribed: break
        }
        while true {
            if let arrival = inbox.arrival(of: msiKey) {
                let time = arrival - start
                metrics.arrived(after: time)
                note(.arrived(after: Milliseconds(time)), posted: start)
                return end(message.isLate(after: time) ? .late : .received, "it came late", msiKey, posted: start)
            }
            let elapsed = ContinuousClock.now - start
            guard elapsed < message.patience else {
                return end(.notReceived, "no push within \(message.patience)", msiKey, posted: start)
            }
            do {
                try await Task.sleep(for: CanaryMessage.pause(after: elapsed))
            } catch {
                return
            }
        }
    }

    private func end(_ outcome: Outcome, _ reason: String, _ msiKey: ObjectID?, posted: ContinuousClock.Instant) {
        if !outcome.isDelivered { note(.missing(reason: reason), posted: posted) }
        metrics.ended(outcome, at: .now)
        log.ended(outcome.rawValue, isDelivered: outcome.isDelivered, reason, msiKey, posted: posted)
    }

    /// A message that is given up late says nothing about those after it.
    private func note(_ push: CanaryText.Push, posted: ContinuousClock.Instant) {
        last.withLock { last in
            if let known = last, known.posted > posted { return }
            last = Ended(posted: posted, push: push)
        }
    }
}

/// What the canary has measured of Web Push.
struct PushMetrics: Sendable {
    private let duration = Instrument.canaryPushDuration.timer()
    private let outcomes: [PushWatch.Outcome: Counter]

    /// Creates all series with 0, except the time of the last arrival, so that Prometheus sees the first failure as an increase.
    ///
    /// - Parameter now: The time of the start. Silence is measured from it until the first push arrives.
    init(now: UnixMilliseconds) {
        outcomes = Dictionary(
            uniqueKeysWithValues: PushWatch.Outcome.allCases.map {
                ($0, Instrument.canaryPushes.counter(["outcome": $0.rawValue]))
            })
        Instrument.canaryPushStarted.gauge().set(Double(now.rawValue) / 1_000)
        for counter in outcomes.values { counter.increment(by: 0) }
    }

    /// A push has arrived.
    ///
    /// - Parameter time: The time since the post.
    func arrived(after time: Duration) {
        let (seconds, attoseconds) = time.components
        duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    func ended(_ outcome: PushWatch.Outcome, at now: UnixMilliseconds) {
        outcomes[outcome]?.increment()
        if outcome.isDelivered { Instrument.canaryPushLastReceived.gauge().set(Double(now.rawValue) / 1_000) }
    }
}
