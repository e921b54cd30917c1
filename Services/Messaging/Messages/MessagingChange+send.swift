import Base
import Schemas
import Store

extension MessagingChange {
    /// Sends a message. The people service has said that the two may write to each other. Repeated with the same key, it finds
    /// the same message.
    ///
    /// - Parameters:
    ///   - relation: To the recipient.
    ///   - digest: Makes the digest that stays.
    /// - Throws: ``CommandFailure``: `not_found` with the field `to` or `picture`; `conflict` with the field `to` or
    ///   `request_key`; `unauthenticated` if the sender was erased.
    mutating func send(
        _ command: SendDirectMessage, by sender: AccountName, to relation: CheckFriends.Relation, _ digest: MessageDigest
    ) throws -> DirectMessage {
        try transaction.requireNotErased(sender)
        let recipient = relation.account
        guard try !transaction.isErased(recipient) else { throw CommandFailure.noRecipient(recipient) }
        if let known = try transaction.repeatedMessage(command, by: sender, digest) { return known }
        // Everything that may fail comes before the first write, which would have to be undone.
        try transaction.checkRoom()
        let waiting = try transaction.get(recipient.key, from: MessagingStore.persons)?.waiting ?? 0
        guard waiting < MessagingLimits.maxWaiting else {
            throw CommandFailure(
                .conflict, "to: too many messages wait for \(recipient); try again later", field: "to")
        }
        var picture: StoredPicture?
        if let upload = command.draft.picture { picture = try use(upload, of: sender, for: .message, expires: nil) }
        let toPosition = try nextPosition(of: recipient) { $0.waiting += 1 }
        let fromPosition = try nextPosition(of: sender)
        let areClassmates = relation.state != .friends
        let now = now
        let conversation = try changeConversation(between: sender, and: recipient) { conversation in
            conversation.add(from: sender, to: recipient, areClassmates: areClassmates, at: now)
            conversation[sender.key].changed = fromPosition
            conversation[recipient.key].changed = toPosition
        }
        let message = DirectMessageDocument(
            id: ObjectID(), conversation: conversation.id, number: conversation.last, count: conversation[sender.key].sent,
            to: recipient.key, toName: recipient, from: sender.key, fromName: sender, toPosition: toPosition,
            fromPosition: fromPosition, text: command.draft.text, picture: picture, at: now,
            classmate: areClassmates ? true : nil)
        try transaction.insert(message, into: MessagingStore.messages)
        let kept = MessageDigestDocument(
            id: message.id, from: sender.key, to: recipient.key, number: message.number, at: now,
            digest: digest.text(of: message), request: command.request(of: sender),
            expires: now + .seconds(Int64(rules.digestDays).multiplied(by: 86_400)))
        try transaction.insert(kept, into: MessagingStore.digests)
        try queuePush(about: message)
        tell(recipient, about: message.id)
        tell(sender, about: message.id)
        return message.view
    }

    /// Changes a conversation, and makes it if it is missing.
    private mutating func changeConversation(
        between one: AccountName, and other: AccountName, _ change: (inout ConversationDocument) -> Void
    ) throws -> ConversationDocument {
        guard let known = try transaction.conversation(of: one.key, and: other.key) else {
            var conversation = ConversationDocument(one, other)
            change(&conversation)
            return try transaction.insert(conversation, into: MessagingStore.conversations).document
        }
        return try changeConversation(known.id) { change(&$0) }
    }
}

extension Transaction {
    /// Whether a person was erased a short time ago.
    fileprivate func isErased(_ account: AccountName) throws -> Bool {
        try get(ErasedPersonDocument.identifier(of: account), from: MessagingStore.erased) != nil
    }

    /// The message that a request has made which is now repeated, as it is now; `nil` for none.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if its key was used for another message.
    func repeatedMessage(
        _ command: SendDirectMessage, by sender: AccountName, _ digest: MessageDigest
    ) throws -> DirectMessage? {
        guard let request = command.request(of: sender) else { return nil }
        let query = Query(where: MessagingStore.digestRequest == request)
        guard let known = try page(of: MessagingStore.digests, query, limit: 1).documents.first?.document else { return nil }
        guard known.to == command.draft.to.key else { throw CommandFailure.reusedKey(for: "message") }
        let message = try get(known.id, from: MessagingStore.messages)?.document
        let claimed = message ?? known.message(command.draft, by: sender)
        let isSame =
            if let text = command.draft.text {
                claimed.text == text && digest.text(of: claimed) == known.digest
            } else {
                // Of a picture that is gone nothing is known by its upload.
                message == nil || claimed.picture?.use == command.draft.picture
            }
        guard isSame else { throw CommandFailure.reusedKey(for: "message") }
        guard message == nil else { return claimed.view }
        return DirectMessage(
            id: known.id, from: sender, to: command.draft.to, number: known.number, at: known.at, text: nil, picture: nil,
            removed: true)
    }
}

extension SendDirectMessage {
    fileprivate func request(of account: AccountName) -> String? {
        RequestHash.text(requestKey, of: account, for: "message")
    }
}

extension MessageDigestDocument {
    /// The message as it would have been with the content of a draft, to compare its digest.
    fileprivate func message(_ draft: DirectMessageDraft, by sender: AccountName) -> DirectMessageDocument {
        DirectMessageDocument(
            id: id, conversation: ConversationDocument.id(of: from, and: to), number: number, count: 0, to: to,
            toName: draft.to, from: from, fromName: sender, toPosition: 0, fromPosition: 0, text: draft.text, picture: nil,
            at: at, classmate: nil)
    }
}

extension CommandFailure {
    /// A person who is no friend, an unknown one and one who has blocked the sender have the same answer.
    static func noRecipient(_ name: AccountName) -> CommandFailure {
        CommandFailure(.notFound, "no person \(name) to whom you may write", field: "to")
    }
}
