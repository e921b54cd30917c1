import Schemas
import Store

/// What the store has for a person behind a position: messages of both directions, and conversations that have changed. The people
/// service says whether the person may still see it.
struct NewsPage: Sendable {
    fileprivate(set) var messages: [DirectMessageDocument] = []
    fileprivate(set) var conversations: [ConversationDocument] = []
    /// The conversations of these whose persons are told what the other one has read.
    fileprivate(set) var withReadMarks: Set<ConversationDocument.ID> = []
    /// The position of its end.
    fileprivate(set) var after: Int64
    /// Whether there is more behind it.
    fileprivate(set) var more = false
    /// Whether it has the message that the device follows, by an event or a push. It is only looked for if there is nothing new.
    fileprivate(set) var isPrompted = false

    var isEmpty: Bool { messages.isEmpty && conversations.isEmpty }

    /// The other persons, and whether each was a classmate and no friend when the last message of the page was sent.
    ///
    /// - Parameter account: In lower case, as in the other functions.
    func peers(of account: String) -> [AccountName: Bool] {
        var peers: [AccountName: Bool] = [:]
        for message in messages { peers[message.other(of: account)] = message.classmate == true }
        for conversation in conversations { peers[conversation.other(of: account).name] = conversation.classmates == true }
        return peers
    }

    /// The number of the last message of the page that is between the person and another one.
    func last(with other: AccountName, for account: String) -> Int64 {
        let numbers = messages.filter { $0.other(of: account) == other }.map(\.number)
        let lasts = conversations.filter { $0.other(of: account).name == other }.map(\.last)
        return (numbers + lasts).max() ?? 0
    }

    /// The page as the person sees it, without what is between them and some others.
    func view(for account: String, without hidden: Set<AccountName>, at now: UnixMilliseconds) -> MessageNews {
        MessageNews(
            messages: messages.filter { !hidden.contains($0.other(of: account)) }.map(\.view),
            conversations: conversations.filter { !hidden.contains($0.other(of: account).name) }.map {
                $0.view(for: account, readMarks: withReadMarks.contains($0.id))
            }, after: after, more: more, now: now)
    }
}

extension DirectMessageDocument {
    /// The other one of the two persons.
    fileprivate func other(of account: String) -> AccountName { from == account ? toName : fromName }

    /// Its position among what is new for one of the two persons.
    fileprivate func position(of account: String) -> Int64 { from == account ? fromPosition : toPosition }
}

extension Transaction {
    /// What is new for a person, the oldest first.
    func news(_ command: ReadMessageNews, for account: AccountName) throws -> NewsPage {
        let position = try get(account.key, from: MessagingStore.persons)?.position ?? 0
        var page = NewsPage(after: max(command.after, position))
        // Most polls end here.
        if command.after < position {
            try read(&page, behind: command.after, limit: command.limit, for: account.key)
        }
        if page.isEmpty, let prompt = command.prompt, let message = try get(prompt, from: MessagingStore.digests) {
            page.isPrompted = [message.from, message.to].contains(account.key)
        }
        return page
    }

    /// Each position has one message and one conversation at most. A page has them together.
    private func read(_ page: inout NewsPage, behind start: Int64, limit: Int, for account: String) throws {
        let messages = [
            try part(of: MessagingStore.messages, .messages(to: account, behind: start), limit: limit),
            try part(of: MessagingStore.messages, .messages(from: account, behind: start), limit: limit),
        ]
        let conversations = [
            try part(of: MessagingStore.conversations, .conversations(ofFirst: account, behind: start), limit: limit),
            try part(of: MessagingStore.conversations, .conversations(ofSecond: account, behind: start), limit: limit),
        ]
        // What comes behind the end of a part is not known, unless that is the last one.
        var ends = messages.compactMap { $0.isLast ? nil : $0.documents.last?.position(of: account) }
        ends += conversations.compactMap { $0.isLast ? nil : $0.documents.last?[account].changed }
        var end = ends.min() ?? .max
        var positions = Set(messages.flatMap { $0.documents.map { $0.position(of: account) } })
        positions.formUnion(conversations.flatMap { $0.documents.map { $0[account].changed } })
        let places = positions.filter { $0 <= end }.sorted()
        if places.count > limit { end = places[limit - 1] }
        page.messages = messages.flatMap { $0.documents.filter { $0.position(of: account) <= end } }
            .sorted { $0.position(of: account) < $1.position(of: account) }
        page.conversations = conversations.flatMap { $0.documents.filter { $0[account].changed <= end } }
            .sorted { $0[account].changed < $1[account].changed }
        for conversation in page.conversations {
            if try showsReading(conversation) { page.withReadMarks.insert(conversation.id) }
        }
        if end < Int64.max { (page.after, page.more) = (end, true) }
    }

    private func part<Document>(
        of collection: Collection<Document>, _ query: Query<Document>, limit: Int
    ) throws -> (documents: [Document], isLast: Bool) {
        let page = try page(of: collection, query, limit: limit)
        return (page.documents.map(\.document), page.next == nil)
    }
}

extension Query<DirectMessageDocument> {
    /// The messages to a person behind a position, the oldest first.
    static func messages(to account: String, behind position: Int64) -> Query<DirectMessageDocument> {
        Query(
            where: MessagingStore.messageTo == account, MessagingStore.messageToPosition > position,
            order: .ascending(MessagingStore.messageToPosition))
    }

    fileprivate static func messages(from account: String, behind position: Int64) -> Query<DirectMessageDocument> {
        Query(
            where: MessagingStore.messageFrom == account, MessagingStore.messageFromPosition > position,
            order: .ascending(MessagingStore.messageFromPosition))
    }
}

extension Query<ConversationDocument> {
    fileprivate static func conversations(ofFirst account: String, behind position: Int64) -> Query<ConversationDocument> {
        Query(
            where: MessagingStore.firstAccount == account, MessagingStore.firstChanged > position,
            order: .ascending(MessagingStore.firstChanged))
    }

    fileprivate static func conversations(ofSecond account: String, behind position: Int64) -> Query<ConversationDocument> {
        Query(
            where: MessagingStore.secondAccount == account, MessagingStore.secondChanged > position,
            order: .ascending(MessagingStore.secondChanged))
    }
}
