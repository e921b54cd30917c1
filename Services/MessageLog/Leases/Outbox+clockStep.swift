import DedicatedThread
import MessageStorage
import Schemas
import Synchronization
import Time

/// Leases and due items after a step of the system clock.
extension Outbox {
    /// The time for a claim.
    func timeOfLeases() -> UnixMilliseconds {
        leaseClock.withLock { $0.time(wall: .now, monotonic: .now) }
    }

    /// Notices each step of the clock, also while nothing is claimed. Returns when its task is cancelled.
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
    /// The former time protects other processes' leases for the duration of a lease. Without this, every item without a lease
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
                guard record.lease == nil, let next = record.nextAttempt, next > claimTime, next <= wall else { return }
                record.nextAttempt = claimTime
            }
        }
    }
}
