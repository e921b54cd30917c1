import Archive
import Schemas

extension MessageStore {
    /// Checks that the message exists that a new one follows.
    ///
    /// - Returns: `nil` if it does, or the new one follows none. Otherwise the message that is stored under the new one's keys already:
    ///   the followed one may have been removed since.
    /// - Throws: ``CommandFailure`` if neither is stored.
    func requireFollowed(by item: OutboxItem) async throws -> OutboxItem? {
        guard let follows = item.follows, try await message(follows) == nil else { return nil }
        if let known = try await stored(item) { return known }
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

// On a phone, a correction takes the place of the corrected message. So of the messages that may have this place, only the newest one
// may still be on its way.

extension MessageStore {
    /// Checks that neither the message that a correction corrects nor another correction of it is on its way.
    ///
    /// - Returns: `nil` if so, or the message corrects none. Otherwise the message that is stored under the new one's keys already.
    /// - Throws: ``CommandFailure`` with status `conflict` if none is stored.
    func requirePlace(of correction: OutboxItem) async throws -> OutboxItem? {
        guard let corrected = correction.corrects else { return nil }
        var waiting = try await corrections(of: corrected).filter { !$0.state.isFinal }.map(\.msiKey)
        if let message = try await message(corrected), !message.relay.state.isFinal { waiting.append(corrected) }
        guard let first = waiting.first else { return nil }
        if let known = try await stored(correction) { return known }
        throw CommandFailure(
            .conflict,
            first == corrected
                ? "message \(first) is still on its way; correct it once it has ended"
                : "correction \(first) of the same message is still on its way; recall it, or wait until it has ended",
            field: "draft.follows")
    }

    /// Checks that no correction has taken a message's place, which it would take back if it went out again.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if one has.
    func requireNotCorrected(_ msiKey: ObjectID) async throws {
        guard let message = try await message(msiKey) else { return }
        var later = try await corrections(of: msiKey)
        if let corrected = message.corrects {
            later += try await corrections(of: corrected).filter {
                ($0.timestamp, $0.msiKey) > (message.timestamp, message.msiKey)
            }
        }
        guard let correction = later.first(where: { $0.state != .recalled }) else { return }
        throw CommandFailure(.conflict, "it was corrected by message \(correction.msiKey), whose place it would take")
    }
}

// Not inlined, so that the frames of async functions have no place for the whole message.

extension OutboxItem {
    /// The `msi_key` of the message that it follows; `nil` for none, and for a push.
    @inline(never)
    var follows: ObjectID? { message?.follows }

    /// The `msi_key` of the message whose place it takes on phones; `nil` for none, and for a push.
    @inline(never)
    var corrects: ObjectID? { message?.corrects }
}

extension RelayState {
    fileprivate var isFinal: Bool {
        switch self {
        case .held, .pending, .retrying: false
        case .relayed, .failed, .expired, .recalled: true
        }
    }
}
