import Schemas
import Store

/// What a part of a confirmation has done.
struct Receipt: Sendable {
    /// The number of the first message of each conversation that the device has now.
    fileprivate(set) var conversations: [ConversationDocument.ID: Int64] = [:]
    /// Whether there is more to confirm.
    fileprivate(set) var more = false

    mutating func add(_ other: Receipt) {
        conversations.merge(other.conversations) { min($0, $1) }
        more = other.more
    }
}

extension MessagingChange {
    /// The messages that one transaction confirms. A page of news has fewer.
    private static let maxReceived = 500

    /// A device has everything up to a position. Of many messages it confirms a part.
    ///
    /// - Throws: ``CommandFailure`` as ``keepDevice(_:of:)``.
    mutating func receive(upTo position: Int64, on device: ObjectID, by account: AccountName) throws -> Receipt {
        let device = try keepDevice(device, of: account)
        guard let latest = try transaction.get(account.key, from: MessagingStore.persons)?.position else { return Receipt() }
        // Nothing is confirmed before it is there.
        let wanted = min(position, latest)
        guard wanted > device.received else { return Receipt() }
        let page = try transaction.page(
            of: MessagingStore.messages, .messages(to: account.key, behind: device.received), limit: Self.maxReceived)
        let last = page.documents.last?.document.toPosition ?? 0
        let end = page.next == nil ? wanted : min(wanted, last)
        let messages = page.documents.map(\.document).filter { $0.toPosition <= end }
        try transaction.update(device.id, in: MessagingStore.devices) { $0.received = end }
        var receipt = Receipt(conversations: [:], more: end < wanted)
        for (conversation, messages) in Dictionary(grouping: messages, by: \.conversation).sorted(by: { $0.key < $1.key }) {
            // In the order of the positions, and so of the numbers.
            guard let first = messages.first, let last = messages.last else { continue }
            guard try transaction.get(conversation, from: MessagingStore.conversations) != nil else { continue }
            try changeConversation(conversation, about: last.id) { $0.deliver(upTo: last.number, to: account.key) }
            receipt.conversations[conversation] = first.number
        }
        return receipt
    }

    /// A person has read a message and all earlier ones of the other person in the conversation.
    mutating func markRead(upTo message: ObjectID, by account: AccountName) throws {
        guard let message = try transaction.get(message, from: MessagingStore.messages)?.document, message.to == account.key,
            let conversation = try transaction.get(message.conversation, from: MessagingStore.conversations)?.document,
            message.number > conversation[account.key].read
        else { return }
        let now = now
        try changeConversation(conversation.id, about: message.id) { conversation in
            conversation.read(upTo: message.number, count: message.count, by: account.key)
            conversation.look(at: now)
        }
    }

    /// Some of these conversations may have messages that can be removed, since a device has more of them now.
    mutating func lookAtRead(_ conversations: [ConversationDocument.ID]) throws {
        let now = now
        for id in conversations {
            guard try transaction.get(id, from: MessagingStore.conversations) != nil else { continue }
            try changeConversation(id) { $0.look(at: now) }
        }
    }
}

extension Transaction {
    /// The conversations of a receipt in which the person has read something that the device has now.
    func read(of receipt: Receipt, by account: AccountName) throws -> [ConversationDocument.ID] {
        try receipt.conversations.keys.sorted().filter { id in
            guard let first = receipt.conversations[id] else { return false }
            let conversation = try get(id, from: MessagingStore.conversations)?.document
            return conversation.map { $0[account.key].read >= first } ?? false
        }
    }
}
