import Base
import Schemas
import Store

/// Messages of a conversation to one of its persons, up to a number.
struct MessageBatch: Hashable, Sendable {
    let conversation: String
    /// The account in lower case.
    let to: String
    let upTo: Int64

    /// How many messages one transaction removes of a batch.
    static let maxMessages = 200
}

/// The messages to one person of a conversation that the person has read.
struct ReadMessages: Sendable {
    let account: AccountName
    /// Those that each active device of the person has, the oldest first; a part of them if there are many.
    let ready: [DirectMessageDocument]
    /// Whether there are more that are ready.
    let hasMore: Bool
    /// The active devices that do not have the next one.
    let lagging: [MessagingDeviceDocument]
}

extension Transaction {
    /// The oldest messages of a batch.
    func messages(_ batch: MessageBatch) throws -> Page<DirectMessageDocument> {
        let query = Query(
            where: MessagingStore.messageConversation == batch.conversation, MessagingStore.messageTo == batch.to,
            MessagingStore.messageNumber <= batch.upTo, order: .ascending(MessagingStore.messageNumber))
        return try page(of: MessagingStore.messages, query, limit: MessageBatch.maxMessages)
    }

    /// What the two persons of a conversation have read, and what of it can be removed.
    func readMessages(of conversation: ConversationDocument, at now: UnixMilliseconds) throws -> [ReadMessages] {
        try [conversation.first, conversation.second].map { side -> ReadMessages in
            let batch = MessageBatch(conversation: conversation.id, to: side.account, upTo: side.read)
            let found = try messages(batch)
            let read = found.documents.map(\.document)
            guard !read.isEmpty else { return ReadMessages(account: side.name, ready: [], hasMore: false, lagging: []) }
            let active = try activeDevices(of: side.account, at: now)
            let received = active.map(\.received).min() ?? .max
            let ready = read.prefix { $0.toPosition <= received }
            let next = read.dropFirst(ready.count).first
            return ReadMessages(
                account: side.name, ready: Array(ready), hasMore: next == nil && found.next != nil,
                lagging: active.filter { device in next.map { device.received < $0.toPosition } ?? false })
        }
    }

    /// The devices of a person for which read messages wait.
    private func activeDevices(of account: String, at now: UnixMilliseconds) throws -> [MessagingDeviceDocument] {
        let query = Query(where: MessagingStore.deviceAccount == account)
        let devices = try page(of: MessagingStore.devices, query, limit: 1_000).documents.map(\.document)
        return devices.filter { $0.seen > now - MessagingLimits.activeTime }
    }
}
