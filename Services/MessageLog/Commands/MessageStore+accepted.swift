import MessageStorage
import Schemas
import Time

extension MessageStore {
    /// A page of the messages that phones fetch.
    func read(_ command: ReadAccepted, now: UnixMilliseconds) async throws -> ReadAccepted.Reply {
        let earliest = PageCursor(before: now - ReadAccepted.reach)
        let after = command.after.map { $0.timestamp < earliest.timestamp ? earliest : $0 } ?? earliest
        let page = try await accepted(command.topics, after: after, limit: ReadAccepted.maxPerPage)
        return ReadAccepted.Reply(messages: page.messages, next: page.end ?? PageCursor(endAt: now))
    }
}

extension PageCursor {
    /// In whole steps: phones that have read everything have the same cursor, so that their requests have the same answer.
    private static let step: Milliseconds = 10_000

    /// Where a reader goes on who has read everything.
    fileprivate init(endAt now: UnixMilliseconds) {
        let time = now - AcceptanceClock.margin
        self.init(before: UnixMilliseconds(rawValue: time.rawValue - time.rawValue % Self.step.rawValue))
    }
}
