import MessageStorage
import Schemas
import Synchronization
import Time

/// Gives each accepted message its place in the order of acceptance: the time, but later than that of every earlier message, also if
/// the clock was set back.
///
/// Messages are stored a moment after they got their place, and several instances have their own clocks. So a reader that has reached
/// the end goes on ``margin`` earlier.
final class AcceptanceClock: Sendable {
    /// How much later than others a message may become visible, or get its place by a clock that is behind.
    static let margin: Milliseconds = 60_000

    /// The last place; `nil` before that of the stored messages is known.
    private let last = Mutex<UnixMilliseconds?>(nil)

    /// Goes on after the stored messages. Only the first call reads.
    func prepare(_ store: some MessageStore) async throws {
        guard last.withLock({ $0 == nil }) else { return }
        let stored = try await store.lastAcceptance() ?? 0
        last.withLock { $0 = max($0 ?? 0, stored) }
    }

    private func next(at now: UnixMilliseconds) -> UnixMilliseconds {
        last.withLock { last in
            let next = max(now, (last ?? 0) + 1)
            last = next
            return next
        }
    }

    /// Notes the acceptance of a message's data, the first time.
    func note(_ record: inout any DeliveryRecord, at now: UnixMilliseconds) {
        guard var relay = record as? RelayRecord, relay.accepted == nil,
            relay.components.contains(where: { $0.component == .data && $0.state == .accepted })
        else { return }
        relay.accepted = next(at: now)
        record = relay
    }
}
