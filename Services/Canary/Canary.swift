import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// Posts a message in each interval, and follows each until a phone has reported it.
struct Canary: Service {
    let hub: any Hub
    let interval: Duration
    let metrics: CanaryMetrics
    private let log: CanaryLog

    init(hub: any Hub, interval: Duration, metrics: CanaryMetrics, logger: Logger) {
        self.hub = hub
        self.interval = interval
        self.metrics = metrics
        log = CanaryLog(logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                var next = ContinuousClock.now
                while !Task.isCancelled {
                    group.addTask { await fly() }
                    // After a stop of the machine there are no messages to make up for.
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

    private func fly() async {
        let start = ContinuousClock.now
        var flight = Flight(interval: interval)
        let key: ObjectID
        do {
            key = try await hub.post("Sent at \(UnixMilliseconds.now.rawValue).", ttl: max(flight.patience, .seconds(60)))
        } catch {
            // A message that a stop has interrupted says nothing.
            if !Task.isCancelled { end(.notStored, "\(error)", posted: start) }
            return
        }
        metrics.reached(.stored, since: start)
        // The last reason why the hub did not tell.
        var reason: String?
        while ContinuousClock.now - start < flight.patience {
            do {
                try await Task.sleep(for: Flight.pause(after: .now - start))
            } catch {
                return
            }
            do {
                let progress = try await hub.progress(of: key)
                reason = nil
                let (reached, outcome) = flight.saw(progress, after: .now - start)
                for stage in reached { metrics.reached(stage, since: start) }
                if let outcome { return end(outcome, "its state is \(progress.state.rawValue)", key, posted: start) }
            } catch {
                if Task.isCancelled { return }
                reason = "\(error)"
            }
        }
        end(flight.givenUp, reason ?? "nothing within \(flight.patience)", key, posted: start)
    }

    private func end(
        _ outcome: Flight.Outcome, _ reason: String, _ key: ObjectID? = nil, posted: ContinuousClock.Instant
    ) {
        metrics.ended(outcome, at: .now)
        log.ended(outcome, reason, key, posted: posted)
    }
}

/// Logs the first message that has not arrived, and that messages arrive again.
private final class CanaryLog: Sendable {
    private let logger: Logger
    /// When the last message that has not arrived was posted; `nil` if a later one has.
    private let failing = Mutex<ContinuousClock.Instant?>(nil)

    init(logger: Logger) {
        self.logger = logger
    }

    func ended(_ outcome: Flight.Outcome, _ reason: String, _ key: ObjectID?, posted: ContinuousClock.Instant) {
        guard !outcome.isDelivered else {
            let isOver = failing.withLock { failing in
                // One that was on its way already says nothing about those after it.
                guard let last = failing, posted > last else { return false }
                failing = nil
                return true
            }
            if isOver { logger.notice("messages arrive again") }
            return
        }
        let isNew = failing.withLock { failing in
            defer { failing = max(failing ?? posted, posted) }
            return failing == nil
        }
        var metadata: Logger.Metadata = ["outcome": "\(outcome.rawValue)", "reason": "\(reason)"]
        if let key { metadata["msi_key"] = "\(key)" }
        logger.log(level: isNew ? .warning : .debug, "a message has not arrived", metadata: metadata)
    }
}
