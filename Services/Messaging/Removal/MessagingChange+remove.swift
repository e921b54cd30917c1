import Base
import Schemas
import Store

/// Why a message is removed.
enum RemovalReason: String, Sendable {
    /// Its recipient has read it, and each of their active devices has it.
    case read
    /// It has waited for too long.
    case expired
    /// The two may not write to each other any more.
    case parted
    /// One of the two was erased.
    case erased
    /// It came back with a backup.
    case restored
}

extension MessagingChange {
    /// Removes messages with the bytes of their pictures. The log of removed messages has them already.
    ///
    /// - Parameter messages: Of one conversation, to one of its persons, without others between them that stay.
    mutating func remove(_ messages: [DirectMessageDocument], because reason: RemovalReason) throws {
        guard let last = messages.max(by: { $0.number < $1.number }) else { return }
        try transaction.delete(messages.map(\.id), from: MessagingStore.messages)
        for message in messages {
            if let picture = message.picture { try release(picture.use) }
        }
        removed()
        if try transaction.get(last.to, from: MessagingStore.persons) != nil {
            try changePerson(last.toName) { $0.waiting = max(0, $0.waiting - messages.count) }
        }
        guard try transaction.get(last.conversation, from: MessagingStore.conversations) != nil else { return }
        // Both learn what was not read: it waits for nobody any more.
        try changeConversation(last.conversation, about: reason == .expired ? last.id : nil) { conversation in
            var side = conversation[last.to]
            let isUnread = last.number > side.read
            // Whoever has parted sees nothing of it.
            if reason != .parted { side.removed = max(side.removed, last.number) }
            if isUnread { side.readCount = max(side.readCount, last.count) }
            if isUnread, reason == .expired { side.expired = max(side.expired, last.number) }
            conversation[last.to] = side
        }
    }
}
