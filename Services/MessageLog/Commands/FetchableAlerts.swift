import MessageStorage
import Schemas
import Time

/// What running apps fetch beside the accepted messages: the Alerts of which FCM has accepted nothing in time, and those that were
/// recalled before.
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
        ) { $0.waitsForFCM && $0.due(at: now) <= moment }
        let withdrawn = try await store.recalledAlerts(since: now - ReadAccepted.reach, limit: ReadAccepted.maxAlerts) {
            $0.mayHaveBeenFetched
        }
        waiting = due.reversed().map { PhoneMessage($0) }
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
    /// Whether FCM may still accept its data, which FCM may have refused for good while the pop-up is tried again. If FCM has accepted
    /// the pop-up, phones show that: the app would show another one.
    fileprivate var waitsForFCM: Bool { relay.pendingComponents.contains(.data) && !isPartlyAccepted }

    private var isPartlyAccepted: Bool { relay.components.contains { $0.state == .accepted } }

    /// When it became due, or due again by a person, by the clock of the message log.
    fileprivate func due(at now: UnixMilliseconds) -> UnixMilliseconds {
        // A gateway's clock may be ahead. The message log has made the identifier.
        let posted = timestamp <= now ? timestamp : min(id.created, now)
        let scheduled = sendAt ?? delay.map { posted + Milliseconds($0) } ?? posted
        let interventions = relay.trace?.filter { $0.action != .recall && $0.at <= now }.map(\.at) ?? []
        return max(scheduled, interventions.max() ?? scheduled)
    }

    /// Whether it was due before it was recalled, and FCM had accepted nothing of it. FCM may have accepted what was held since a restore
    /// after the backup was made: phones keep that.
    fileprivate var mayHaveBeenFetched: Bool {
        guard let ended = relay.ended, due(at: ended) < ended, !isPartlyAccepted else { return false }
        let wasApproved = approval != true || relay.trace?.contains { $0.action == .approve } == true
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
