import Archive
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Base

/// Ends what is due by Web Push while it is switched off: the outbox does not claim it. It may become due long after the start, such as a
/// scheduled message, a retry, or what a process had leased that was killed. What waits for FCM when it is switched off ends in its turn,
/// because the queue of FCM is always claimed.
struct SwitchedOffTransports: Service {
    private static let queues = [OutboxQueue.fanOuts, .blocks]
    /// The size of a batch.
    private static let batch = 200
    private static let period = Duration.seconds(10)
    private static let pauseAfterFailure = Duration.seconds(1)

    let outbox: Outbox

    func run() async throws {
        let outage = OutageLog("what waits for Web Push, which is switched off, cannot be ended", logger: outbox.logger)
        await RepeatingService(every: Self.period, retries: .constant(Self.pauseAfterFailure), outage: outage, from: 0) { _ in
            guard !outbox.transports.contains(.webpush) else { return .never }
            try await endAll()
            return .periodic
        }.run()
    }

    private func endAll() async throws {
        for queue in Self.queues {
            for urgency in Urgency.allCases {
                let claim = Claim(urgency, of: queue, limit: Self.batch, maxPerKey: Self.batch)
                while case let items = try await claimed(by: claim), !items.isEmpty {
                    for item in items { try await end(item) }
                }
            }
        }
    }

    private func claimed(by claim: Claim) async throws -> [OutboxItem] {
        let now = UnixMilliseconds.now
        return try await outbox.store.claim(claim, lease: outbox.lease(at: now), now: now)
    }

    private func end(_ item: OutboxItem) async throws {
        let (owner, schedule, expires) = (outbox.owner, outbox.schedule, item.expires)
        guard !item.record.namesPersons else {
            // Which of the devices have Web Push is not known yet. By now a turn of this process may have another lease.
            let claimed = item.record.lease
            _ = try await outbox.store.update(item.key) { record, _ in
                if record.lease == claimed { record.leaveAccountsToFCM(at: .now) }
            }
            return outbox.claimSoon(for: item.urgency)
        }
        let changed = try await outbox.store.change(item.key) { record, _, _ in
            let results = record.pendingParts(of: .webpush).map {
                PartResult(part: $0, result: .failure(.switchedOff(.webpush)))
            }
            record.attempted(
                [AttemptOutcome(.webpush, .answered(results))], by: owner, at: .now, expires: expires, schedule: schedule,
                random: 0.5)
        }
        guard let changed else { return }
        if changed.item.record.nextAttempt == nil { changed.item.reportState(to: outbox.logger) }
        outbox.announcer.announce(changed, after: item.record.state)
    }
}
