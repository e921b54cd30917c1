import MessageStorage
import Schemas
import Synchronization
import Time

/// Gives each accepted message its place in the order of acceptance: the time, but later than that of every earlier message, also if
/// the clock was set back, or that of another instance is ahead.
final class AcceptanceClock: Sendable {
    /// How often the stored messages are looked at: other instances give places, too.
    private static let refreshPeriod = Duration.seconds(1)

    private struct State {
        /// The last known place; `nil` before that of the stored messages is known.
        var last: UnixMilliseconds?
        /// When the stored messages were looked at.
        var refreshed: ContinuousClock.Instant?
        var horizon = AcceptanceHorizon()
    }

    private let state = Mutex(State())

    /// Looks at the stored messages, unless it has just done so.
    ///
    /// - Parameter instant: The present.
    func refresh(from store: some MessageStore, at instant: ContinuousClock.Instant = .now) async throws {
        let isDue = state.withLock { state in
            if state.last != nil, let refreshed = state.refreshed, instant - refreshed < Self.refreshPeriod { return false }
            state.refreshed = instant
            return true
        }
        guard isDue else { return }
        do {
            let stored = try await store.lastAcceptance() ?? 0
            state.withLock { state in
                state.last = max(state.last ?? 0, stored)
                state.horizon.note(stored, at: instant)
            }
        } catch {
            state.withLock { $0.refreshed = nil }
            throw error
        }
    }

    /// Where a reader goes on who has read everything.
    func end(at instant: ContinuousClock.Instant) -> PageCursor {
        state.withLock { PageCursor(before: $0.horizon.place(at: instant) + 1) }
    }

    private func next(at now: UnixMilliseconds) -> UnixMilliseconds {
        state.withLock { state in
            let next = max(now, (state.last ?? 0) + 1)
            state.last = next
            return next
        }
    }

    /// Notes the acceptance of a message's data, the first time.
    func note(_ record: inout any DeliveryRecord, at now: UnixMilliseconds) {
        guard var relay = record as? RelayRecord else { return }
        note(&relay, at: now)
        record = relay
    }

    /// Notes the acceptance of a message's data, the first time.
    func note(_ record: inout RelayRecord, at now: UnixMilliseconds) {
        guard record.accepted == nil, record.components.contains(where: { $0.component == .data && $0.state == .accepted })
        else { return }
        record.accepted = next(at: now)
    }
}
