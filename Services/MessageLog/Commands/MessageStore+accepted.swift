import MessageStorage
import Schemas

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
        let horizon = order.end(at: instant)
        let page = try await accepted(
            after: max(command.after ?? PageCursor(before: 0), PageCursor(before: now - ReadAccepted.reach)),
            limit: FollowAccepted.maxPerPage, checkStillWanted: checkStillWanted)
        return FollowAccepted.Reply(messages: page.messages, end: page.end, horizon: horizon)
    }
}
