import Schemas
import Store

extension MessagingChange {
    /// Changes a conversation. If a person sees it differently then, the person's devices fetch it: it gets a new position.
    ///
    /// - Parameters:
    ///   - id: ``ConversationDocument/id``.
    ///   - message: Whose marks the change is about: these persons are told of it; `nil` to tell nobody.
    ///   - change: Need not set ``ConversationDocument/Side/changed``. If it does, that position stays.
    /// - Returns: It after the change.
    /// - Throws: ``CommandFailure`` with `not_found` if there is no such conversation.
    @discardableResult
    mutating func changeConversation(
        _ id: String, about message: ObjectID? = nil, _ change: (inout ConversationDocument) throws -> Void
    ) throws -> ConversationDocument {
        var told: [AccountName] = []
        let changed = try transaction.update(id, in: MessagingStore.conversations) { conversation in
            let before = conversation
            try change(&conversation)
            for side in [conversation.first, conversation.second] where side.changed == before[side.account].changed {
                guard try transaction.isSeen(conversation, differentFrom: before, by: side.account) else { continue }
                conversation[side.account].changed = try nextPosition(of: side.name)
                told.append(side.name)
            }
        }.document
        if let message {
            for account in told { tell(account, about: message) }
        }
        return changed
    }
}

extension Transaction {
    /// What two persons have said to each other, without the messages; `nil` for nothing.
    ///
    /// - Parameters:
    ///   - one: In lower case, like the other one.
    func conversation(of one: String, and other: String) throws -> ConversationDocument? {
        try get(ConversationDocument.id(of: one, and: other), from: MessagingStore.conversations)?.document
    }

    /// Whether the two persons of a conversation are told what the other one has read.
    func showsReading(_ conversation: ConversationDocument) throws -> Bool {
        for side in [conversation.first, conversation.second] {
            if try get(side.account, from: MessagingStore.persons)?.hidesReading == true { return false }
        }
        return true
    }

    /// Whether a person sees a conversation differently after a change.
    ///
    /// Nobody learns by the time of an event what somebody has read who does not show it. Which messages were removed is no news:
    /// only devices that return later need it, and these fetch the conversation for what came before.
    fileprivate func isSeen(
        _ conversation: ConversationDocument, differentFrom before: ConversationDocument, by account: String
    ) throws -> Bool {
        var before = before
        before[account].removed = conversation[account].removed
        func differs(readMarks: Bool) -> Bool {
            conversation.view(for: account, readMarks: readMarks) != before.view(for: account, readMarks: readMarks)
        }
        if differs(readMarks: false) { return true }
        return try differs(readMarks: true) && showsReading(conversation)
    }
}
