import Base
import Logging
import Archive
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

extension Lease {
    /// How long a process owns a claimed item.
    static let duration = Milliseconds(DeliveryTimes.leaseDuration)

    /// The longest remaining time of a lease by the clock of any machine. If more is left, a clock was set back.
    static let maxRest = duration + Milliseconds(DeliveryTimes.maxClockDifference)
}

/// The clock that decides whether other processes' leases have ended. Pure.
///
/// When the system clock is set forward, every lease seems to have ended although its owner may still be working. So a step
/// forward is ignored for the duration of a lease: until then all claims use the time without the step. Items without a lease do not
/// wait for it (``Outbox/makeUnleasedItemsDue(at:by:)``).
struct LeaseClock: Sendable {
    private var steps: ClockSteps
    /// The steps forward that are ignored, and until when.
    private var ignored: (size: Milliseconds, end: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - monotonic: A monotonic clock.
    init(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) {
        steps = ClockSteps(wall: wall, monotonic: monotonic)
    }

    /// The time for a claim. The parameters are those of ``init(wall:monotonic:)``.
    mutating func time(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) -> UnixMilliseconds {
        let step = steps.step(wall: wall, monotonic: monotonic)
        if step > 0 {
            ignored = ((ignored?.size ?? 0) + step, monotonic + Duration(Lease.duration))
        } else if step < 0, let forward = ignored {
            let rest = forward.size + step
            ignored = rest > ClockSteps.tolerance ? (rest, forward.end) : nil
        }
        if let ignored, monotonic < ignored.end { return wall - ignored.size }
        ignored = nil
        return wall
    }
}

/// Detects steps of the system clock by comparison with a monotonic clock. Pure.
struct ClockSteps: Sendable {
    /// Larger differences count as clock steps. NTP slews a clock by smaller ones.
    static let tolerance: Milliseconds = 1_000

    /// Both clocks at the last call.
    private var last: (wall: UnixMilliseconds, monotonic: ContinuousClock.Instant)

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - monotonic: A monotonic clock.
    init(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) {
        last = (wall, monotonic)
    }

    /// How far the system clock was set since the last call: above 0 forward, below 0 back, and 0 if it was not set. The parameters are
    /// those of ``init(wall:monotonic:)``.
    mutating func step(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) -> Milliseconds {
        let change = (wall - last.wall) - Milliseconds(monotonic - last.monotonic)
        last = (wall, monotonic)
        return change > Self.tolerance || change + Self.tolerance < 0 ? change : 0
    }
}

/// Shortens leases and waits after the system clock was set back, so that none lasts longer than intended. It does so at the start, too:
/// the clock may have been set back before.
struct LeaseAdjustment: Service {
    private static let period = Duration.seconds(1)

    private let store: any MessageStore
    private let schedule: RetrySchedule
    private let logger: Logger

    init(store: any MessageStore, schedule: RetrySchedule, logger: Logger) {
        self.store = store
        self.schedule = schedule
        self.logger = logger
    }

    func run() async throws {
        let outage = OutageLog("waits cannot be checked after the clock was set back", logger: logger)
        await RepeatingService(
            every: Self.period, outage: outage, from: (steps: ClockSteps(wall: .now, monotonic: .now), isDue: true)
        ) { state in
            if state.steps.step(wall: .now, monotonic: .now) < 0 { state.isDue = true }
            if state.isDue { try await adjust() }
            state.isDue = false
            return .periodic
        }.run()
    }

    private func adjust() async throws {
        let now = UnixMilliseconds.now
        let schedule = schedule
        let late = try await store.waiting(after: now) { item in
            var capped = item
            capped.change { $0.capWait(at: now, notBefore: item.notBefore(at: now), schedule: schedule) }
            return capped != item
        }
        for key in late {
            _ = try await store.update(key) { record, item in
                let now = UnixMilliseconds.now
                record.capWait(at: now, notBefore: item.notBefore(at: now), schedule: schedule)
            }
        }
        guard !late.isEmpty else { return }
        logger.notice(
            "the clock was set back: messages that waited by the old time are due sooner", metadata: ["count": "\(late.count)"])
    }
}

/// Leases and due items after a step of the system clock.
extension Outbox {
    /// The time for a claim.
    func timeOfLeases() -> UnixMilliseconds {
        leaseClock.withLock { $0.time(wall: .now, monotonic: .now) }
    }

    /// Notices each step of the clock, even while nothing is claimed. Returns when its task is cancelled.
    ///
    /// If the clock is set back and forward again between two claims, the second claim sees no difference. But a lease that another
    /// process took in between seems to have ended.
    func watchClock() async {
        while true {
            do { try await Task.sleep(untilNext: .milliseconds(500)) } catch { return }
            _ = timeOfLeases()
        }
    }

    /// Lets items without a lease be due by the time of claims, which is behind the system clock after a step forward.
    ///
    /// The time of claims protects other processes' leases for the duration of a lease. Without this, every item without a lease
    /// would have to wait as long, and a short one would expire.
    ///
    /// - Parameters:
    ///   - wall: The system clock.
    ///   - claimTime: The time of claims (``LeaseClock``).
    func makeUnleasedItemsDue(at wall: UnixMilliseconds, by claimTime: UnixMilliseconds) async throws {
        guard claimTime < wall else { return }
        let due = try await store.waiting(after: claimTime, until: wall) { $0.record.lease == nil }
        for key in due {
            _ = try await store.update(key) { record, _ in
                // It may have been claimed or recalled since the search.
                guard record.lease == nil else { return }
                if let next = record.nextAttempt, next > claimTime, next <= wall { record.nextAttempt = claimTime }
                if let next = record.webpushAttempt, next > claimTime, next <= wall { record.webpushAttempt = claimTime }
            }
        }
    }
}
