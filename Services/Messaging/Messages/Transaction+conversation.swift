import Schemas
import Store

/// The messages of a conversation that the hub still has, and the conversation as one of its persons sees it.
struct FoundConversation: Sendable {
    let messages: [DirectMessage]
    let view: Conversation
    let isOfClassmates: Bool
    /// The number before which the next page begins; `nil` on the last one.
    let next: Int64?
}

extension Transaction {
    /// A page of a conversation, the newest message first; `nil` if the two have not written to each other.
    func conversation(_ command: ListConversation, of account: AccountName) throws -> FoundConversation? {
        guard let conversation = try conversation(of: account.key, and: command.account.key) else { return nil }
        let query = Query(
            where: MessagingStore.messageConversation == conversation.id,
            MessagingStore.messageNumber < (command.before ?? Int64.max), order: .descending(MessagingStore.messageNumber))
        let page = try page(of: MessagingStore.messages, query, limit: command.limit)
        return FoundConversation(
            messages: page.documents.map(\.document.view),
            view: conversation.view(for: account.key, readMarks: try showsReading(conversation)),
            isOfClassmates: conversation.classmates == true,
            next: page.next == nil ? nil : page.documents.last?.document.number)
    }
}
