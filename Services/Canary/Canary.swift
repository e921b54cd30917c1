import CoreMetrics
import Instruments
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// Posts a message in each interval, and follows each until a phone has reported it.
struct Canary: Service {
    let hub: any Hub
    let interval: Duration
    let metrics: CanaryMetrics
    /// `nil` if the canary has no Web Push subscription.
    private let push: PushWatch?
    private let log: CanaryLog

    init(hub: any Hub, interval: Duration, metrics: CanaryMetrics, push: PushWatch? = nil, logger: Logger) {
        self.hub = hub
        self.interval = interval
        self.metrics = metrics
        self.push = push
        log = CanaryLog(one: "a message", many: "messages", logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                var next = ContinuousClock.now
                while !Task.isCancelled {
                    group.addTask { await sendAndFollow() }
                    // After a suspension of the machine the missed messages are not sent.
                    next = max(next + interval, .now)
                    do {
                        try await Task.sleep(until: next, clock: .continuous)
                    } catch {
                        break
                    }
                }
                group.cancelAll()
            }
        }
    }

    private func sendAndFollow() async {
        let subscription = push?.subscription
        let start = ContinuousClock.now
        let message = CanaryMessage(interval: interval)
        let key: ObjectID
        do {
            key = try await hub.post("\(CanaryText(sent: .now, push: push?.report))", ttl: max(message.patience, .seconds(60)))
        } catch {
            // A message that the stop has interrupted does not count.
            if !Task.isCancelled {
                end(.notStored, "\(error)", posted: start)
                push?.refused("\(error)", posted: start)
            }
            return
        }
        metrics.reached(.stored, since: start)
        await withDiscardingTaskGroup { group in
            if let push, let subscription {
                group.addTask { await push.follow(key, message, posted: start, subscription: subscription) }
            }
            await follow(key, message, posted: start)
        }
    }

    private func follow(_ key: ObjectID, _ message: CanaryMessage, posted start: ContinuousClock.Instant) async {
        var message = message
        // Why the last request for the progress failed.
        var reason: String?
        while ContinuousClock.now - start < message.patience {
            do {
                try await Task.sleep(for: CanaryMessage.pause(after: .now - start))
            } catch {
                return
            }
            do {
                let progress = try await hub.progress(of: key)
                reason = nil
                let (reached, outcome) = message.update(progress, after: .now - start)
                for stage in reached { metrics.reached(stage, since: start) }
                if let outcome { return end(outcome, "its state is \(progress.state.rawValue)", key, posted: start) }
            } catch {
                if Task.isCancelled { return }
                reason = "\(error)"
            }
        }
        end(message.givenUp, reason ?? "nothing within \(message.patience)", key, posted: start)
    }

    private func end(
        _ outcome: CanaryMessage.Outcome, _ reason: String, _ key: ObjectID? = nil, posted: ContinuousClock.Instant
    ) {
        metrics.ended(outcome, at: .now)
        log.ended(outcome.rawValue, isDelivered: outcome.isDelivered, reason, key, posted: posted)
    }
}

/// Logs one line when messages or pushes stop to arrive, and one when they arrive again.
final class CanaryLog: Sendable {
    private let logger: Logger
    /// When the last lost message was posted; `nil` if a later one has arrived.
    private let failing = Mutex<ContinuousClock.Instant?>(nil)

    /// What arrives.
    private let one: String
    private let many: String

    init(one: String, many: String, logger: Logger) {
        self.one = one
        self.many = many
        self.logger = logger
    }

    func ended(
        _ outcome: String, isDelivered: Bool, _ reason: String, _ key: ObjectID?, posted: ContinuousClock.Instant
    ) {
        guard !isDelivered else {
            let isOver = failing.withLock { failing in
                // A message that was posted before the lost one does not show that the outage is over.
                guard let last = failing, posted > last else { return false }
                failing = nil
                return true
            }
            if isOver { logger.notice("\(many) arrive again") }
            return
        }
        let isNew = failing.withLock { failing in
            defer { failing = max(failing ?? posted, posted) }
            return failing == nil
        }
        var metadata: Logger.Metadata = ["outcome": "\(outcome)", "reason": "\(reason)"]
        if let key { metadata["msi_key"] = "\(key)" }
        logger.log(level: isNew ? .warning : .debug, "\(one) has not arrived", metadata: metadata)
    }
}

/// What the canary has measured.
struct CanaryMetrics: Sendable {
    private let durations: [CanaryMessage.Stage: CoreMetrics.Timer]
    private let outcomes: [CanaryMessage.Outcome: Counter]

    /// Creates all series with 0, except the time of the last arrival, so that Prometheus sees the first failure as an increase.
    ///
    /// - Parameter now: The time of the start. Silence is measured from it until the first message arrives.
    init(interval: Duration, now: UnixMilliseconds) {
        durations = Dictionary(
            uniqueKeysWithValues: CanaryMessage.Stage.allCases.map {
                ($0, Instrument.canaryDuration.timer(["stage": $0.rawValue]))
            })
        outcomes = Dictionary(
            uniqueKeysWithValues: CanaryMessage.Outcome.allCases.map {
                ($0, Instrument.canaryMessages.counter(["outcome": $0.rawValue]))
            })
        Instrument.canaryInterval.gauge().set(Double(interval.components.seconds))
        Instrument.canaryStarted.gauge().set(Self.seconds(now))
        for counter in outcomes.values { counter.increment(by: 0) }
    }

    func reached(_ stage: CanaryMessage.Stage, since start: ContinuousClock.Instant) {
        durations[stage]?.record(since: start)
    }

    func ended(_ outcome: CanaryMessage.Outcome, at now: UnixMilliseconds) {
        outcomes[outcome]?.increment()
        if outcome.isDelivered { Instrument.canaryLastReceived.gauge().set(Self.seconds(now)) }
    }

    private static func seconds(_ time: UnixMilliseconds) -> Double { Double(time.rawValue) / 1_000 }
}
