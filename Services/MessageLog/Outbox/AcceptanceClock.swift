import Archive
import Schemas
import Synchronization
import Base

/// The clock of the acceptance order, a hybrid clock: it gives an accepted message the present time, or one millisecond after the last
/// known one if that is ahead. So the order holds after the system clock was set back, and if that of another instance is ahead.
final class AcceptanceClock: Sendable {
    /// How often the last stored time is read: other instances accept messages, too.
    private static let refreshPeriod = Duration.seconds(1)

    private struct State {
        /// The last known time; `nil` before the stored one has been read.
        var last: UnixMilliseconds?
        /// When the stored one was read.
        var refreshed: ContinuousClock.Instant?
        var watermark = AcceptanceWatermark()
    }

    private let state = Mutex(State())

    /// Reads the last stored time, unless it was just read.
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
                state.watermark.note(stored, at: instant)
            }
        } catch {
            state.withLock { $0.refreshed = nil }
            throw error
        }
    }

    /// The cursor of a reader who has read everything.
    func end(at instant: ContinuousClock.Instant) -> PageCursor {
        state.withLock { PageCursor(before: $0.watermark.time(at: instant) + 1) }
    }

    private func next(at now: UnixMilliseconds) -> UnixMilliseconds {
        state.withLock { state in
            let next = max(now, (state.last ?? 0) + 1)
            state.last = next
            return next
        }
    }

    /// Notes the acceptance of a message, the first time.
    func note(_ record: inout any DeliveryRecord, at now: UnixMilliseconds) {
        guard var relay = record as? RelayRecord else { return }
        note(&relay, at: now)
        record = relay
    }

    /// Notes the acceptance of a message, the first time.
    func note(_ record: inout RelayRecord, at now: UnixMilliseconds) {
        guard record.accepted == nil, record.isAccepted else { return }
        record.accepted = next(at: now)
    }
}

extension RelayRecord {
    /// Whether the component was accepted by which running apps get the message: FCM's data, and without FCM that for Web Push. A message
    /// without any component is accepted when it is due. Running apps do not wait for data that waits for pop-ups.
    fileprivate var isAccepted: Bool {
        guard let deciding = decidingComponent else { return state == .relayed }
        return deciding.state == .accepted || isOnlyPopUpOut
    }

    /// Whether FCM has the pop-up, and the data waits until FCM has delivered the pop-ups.
    private var isOnlyPopUpOut: Bool {
        components.contains { $0.component == .notification && $0.state == .accepted }
            && components.contains { $0.component == .data && $0.state == .pending && $0.error?.catalogued == .fanOut }
    }

    /// The component whose acceptance makes the message one that running apps fetch; `nil` if it has none.
    var decidingComponent: ComponentRecord? {
        components.first { $0.component == .data } ?? components.first { $0.component == .webpush }
    }
}

/// The acceptance time up to which readers have every message: the latest time that was stored ``margin`` ago. Every message that is
/// stored from now on has a later time. Pure.
///
/// It does not depend on the system clock, which may be far ahead of the latest stored time, or behind it. While nothing is accepted,
/// all readers have the same cursor, so their requests have the same answer.
struct AcceptanceWatermark: Sendable {
    /// The maximum time from the acceptance of a message until it is stored.
    static let margin: Milliseconds = 60_000
    /// The time between two samples. The watermark stays the same in between.
    private static let step = Duration.seconds(10)

    /// The last stored time at different moments: the newest sample that is old enough, and the younger ones.
    private var samples: [(last: UnixMilliseconds, at: ContinuousClock.Instant)] = []

    /// - Parameter last: The last stored time in the acceptance order.
    mutating func note(_ last: UnixMilliseconds, at instant: ContinuousClock.Instant) {
        // At the start nothing is known about earlier moments but the stored times themselves.
        if samples.isEmpty { samples.append((last - Self.margin, instant - Duration(Self.margin))) }
        guard let newest = samples.last, instant - newest.at >= Self.step else { return }
        samples.append((last, instant))
        while samples.count > 1, isOld(samples[1].at, at: instant) { samples.removeFirst() }
    }

    /// The watermark: a time in the acceptance order.
    func time(at instant: ContinuousClock.Instant) -> UnixMilliseconds {
        samples.last { isOld($0.at, at: instant) }?.last ?? 0
    }

    private func isOld(_ sample: ContinuousClock.Instant, at instant: ContinuousClock.Instant) -> Bool {
        instant - sample >= Duration(Self.margin)
    }
}

extension MessageStore {
    /// A page of the messages that phones fetch.
    ///
    /// - Parameters:
    ///   - now: The system clock, which says how far back messages can be fetched.
    ///   - instant: The present, for the end of the page.
    ///   - checkStillWanted: As for pages of the archive.
    func read(
        _ command: ReadAccepted, in order: AcceptanceClock, now: UnixMilliseconds, at instant: ContinuousClock.Instant = .now,
        checkStillWanted: @escaping @Sendable () throws -> Void = {}
    ) async throws -> ReadAccepted.Reply {
        try await order.refresh(from: self, at: instant)
        let earliest = PageCursor(before: now - ReadAccepted.reach)
        let after = command.after.map { $0.timestamp < earliest.timestamp ? earliest : $0 } ?? earliest
        let page = try await accepted(
            command.topics, after: after, limit: ReadAccepted.maxPerPage, checkStillWanted: checkStillWanted)
        return ReadAccepted.Reply(messages: page.messages.map(\.message), next: page.end ?? order.end(at: instant))
    }

    /// A page of all messages that phones fetch. Parameters as for the messages of topics.
    func read(
        _ command: FollowAccepted, in order: AcceptanceClock, now: UnixMilliseconds, at instant: ContinuousClock.Instant = .now,
        checkStillWanted: @escaping @Sendable () throws -> Void = {}
    ) async throws -> FollowAccepted.Reply {
        try await order.refresh(from: self, at: instant)
        // Before the reading, which must not miss a message that is stored earlier.
        let watermark = order.end(at: instant)
        let page = try await accepted(
            after: max(command.after ?? PageCursor(before: 0), PageCursor(before: now - ReadAccepted.reach)),
            limit: FollowAccepted.maxPerPage, checkStillWanted: checkStillWanted)
        return FollowAccepted.Reply(messages: page.messages, end: page.end, watermark: watermark)
    }
}
