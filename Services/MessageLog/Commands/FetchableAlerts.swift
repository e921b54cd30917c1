import Archive
import Schemas
import Synchronization
import Base

/// What running apps fetch beside the accepted messages: the Alerts of which FCM, or without FCM the Web Push service, has accepted nothing
/// in time, and those that were recalled before.
struct FetchableAlerts: Hashable, Sendable {
    /// The oldest first.
    var waiting: [PhoneMessage]
    var recalled: [RecalledAlert]
}

extension FetchableAlerts {
    /// Reads the Alerts of all topics.
    ///
    /// - Parameters:
    ///   - delay: For how long an Alert is left to FCM alone.
    ///   - now: The system clock, which also decides when the outbox relays it.
    init(in store: any MessageStore, after delay: Seconds, now: UnixMilliseconds) async throws {
        let moment = now - Milliseconds(delay)
        let due = try await store.dueAlerts(
            at: now, postedBy: moment, maxPerTopic: ReadAccepted.maxWaitingPerTopic, limit: ReadAccepted.maxAlerts
        ) { $0.waitsForAcceptance && $0.due(at: now) <= moment }
        let withdrawn = try await store.recalledAlerts(since: now - ReadAccepted.reach, limit: ReadAccepted.maxAlerts) {
            $0.mayHaveBeenFetched
        }
        waiting = due.reversed().map { PhoneMessage($0.content, msiKey: $0.msiKey, timestamp: $0.timestamp) }
        recalled = withdrawn.map { RecalledAlert(msiKey: $0.msiKey, topicKey: $0.topicKey) }
    }

    /// Those of some topics.
    func of(_ topics: [TopicKey]) -> FetchableAlerts {
        guard !waiting.isEmpty || !recalled.isEmpty else { return self }
        let topics = Set(topics)
        var part = self
        part.waiting.removeAll { !topics.contains($0.topicKey) }
        part.recalled.removeAll { !topics.contains($0.topicKey) }
        return part
    }
}

extension Message {
    /// Whether FCM may still accept its data, or without FCM the Web Push service its component. FCM may have refused the data permanently
    /// while the pop-up is retried. If FCM has accepted the pop-up, phones show it, and the app would show a second one.
    fileprivate var waitsForAcceptance: Bool { relay.decidingComponent?.state == .pending && !isAcceptedByFCM }

    private var isAcceptedByFCM: Bool { relay.components.contains { $0.state == .accepted && $0.component != .webpush } }

    /// When it became due, or due again by a person, by the clock of the message log.
    func due(at now: UnixMilliseconds) -> UnixMilliseconds {
        // A gateway's clock may be ahead. The message log has made the identifier.
        let posted = timestamp <= now ? timestamp : min(id.created, now)
        let scheduled = content.sendAt ?? content.delay.map { posted + Milliseconds($0) } ?? posted
        let interventions = relay.trace?.filter { $0.action != .recall && $0.at <= now }.map(\.at) ?? []
        return max(scheduled, interventions.max() ?? scheduled)
    }

    /// Whether it was due before it was recalled, and FCM had accepted nothing of it. FCM may have accepted what was held since a restore
    /// after the backup was made: phones keep that.
    fileprivate var mayHaveBeenFetched: Bool {
        guard let ended = relay.ended, due(at: ended) < ended, !isAcceptedByFCM else {
            return false
        }
        let wasApproved = approval != true || relay.isApproved
        let wasHeldByRestore = relay.trace?.last { $0.action == .restore || $0.action == .release }?.action == .restore
        return wasApproved && !wasHeldByRestore
    }
}

extension ReadAccepted.Reply {
    /// The reply with Alerts beside the last page.
    func with(_ alerts: FetchableAlerts) -> Self {
        guard messages.count < ReadAccepted.maxPerPage else { return self }
        var reply = self
        if !alerts.waiting.isEmpty { reply.waiting = alerts.waiting }
        if !alerts.recalled.isEmpty { reply.recalled = alerts.recalled.map(\.msiKey) }
        return reply
    }
}

extension FollowAccepted.Reply {
    /// The reply with Alerts beside the last page.
    func with(_ alerts: FetchableAlerts) -> Self {
        guard end == nil else { return self }
        var reply = self
        if !alerts.waiting.isEmpty { reply.waiting = alerts.waiting }
        if !alerts.recalled.isEmpty { reply.recalled = alerts.recalled }
        return reply
    }
}

/// Gives the fetchable Alerts to phones and gateways. It reads them at most four times a second, however many ask.
///
/// Read them before a page of accepted messages: an Alert that FCM accepts in between is then in both, rather than in neither. That
/// also holds for Alerts that are up to ``maxAge`` old.
final class FetchableAlertsReader: Sendable {
    /// How old the Alerts may be.
    static let maxAge = Duration.milliseconds(250)

    private struct State {
        /// The current reading, or the last one.
        var reading: Task<FetchableAlerts, any Error>?
        var began: ContinuousClock.Instant?
        var isReading = false
    }

    private let state = Mutex(State())
    private let read: @Sendable () async throws -> FetchableAlerts

    init(read: @escaping @Sendable () async throws -> FetchableAlerts) {
        self.read = read
    }

    /// The Alerts, at most ``maxAge`` old. Concurrent callers share one reading.
    ///
    /// - Parameter instant: The present.
    /// - Throws: The error of the store. The next caller reads again.
    func alerts(at instant: ContinuousClock.Instant = .now) async throws -> FetchableAlerts {
        let reading = state.withLock { state -> Task<FetchableAlerts, any Error> in
            if let reading = state.reading, let began = state.began, state.isReading || instant - began < Self.maxAge {
                return reading
            }
            let reading = Task { try await self.readOnce() }
            state = State(reading: reading, began: instant, isReading: true)
            return reading
        }
        return try await reading.value
    }

    private func readOnce() async throws -> FetchableAlerts {
        do {
            let alerts = try await read()
            state.withLock { $0.isReading = false }
            return alerts
        } catch {
            state.withLock { $0 = State() }
            throw error
        }
    }
}
