import MessageStorage
import Schemas

extension MessageStore {
    /// Checks that the message exists that a new one follows.
    ///
    /// - Returns: `nil` if it does, or the new one follows none. Otherwise the message that is stored under the new one's keys already:
    ///   the followed one may have been removed since.
    /// - Throws: ``CommandFailure`` if neither is stored.
    func requireFollowed(by message: Message) async throws -> OutboxItem? {
        guard let follows = message.follows, try await self.message(follows) == nil else { return nil }
        if let known = try await stored(.message(message)) { return known }
        throw CommandFailure(.invalid, "draft.follows: no message \(follows)", field: "draft.follows")
    }

    /// Messages with their follow-ups and receipts.
    func withRelated(_ messages: [Message]) async throws -> [Message] {
        let messages = try await withReceipts(messages)
        let followUps = try await followUps(of: messages.map(\.msiKey))
        guard !followUps.isEmpty else { return messages }
        return messages.map { message in
            var message = message
            message.followUps = followUps[message.msiKey]?.map(\.msiKey)
            message.followUpTopics = followUps[message.msiKey]?.map(\.topicKey)
            return message
        }
    }

    /// A message with its follow-ups and receipts, after it was changed. The change counts even if they cannot be read.
    func withRelated(_ changed: Message) async -> Message {
        (try? await withRelated([changed]))?.first ?? changed
    }
}
