import CommandBus
import Schemas

extension CommandClient {
    /// A page of the archive as a caller sees it.
    ///
    /// - Throws: ``CommandFailure``.
    func history(
        _ command: ListMessages, for reader: MessageReader, _ caller: RequestContext
    ) async throws(CommandFailure) -> ListMessages.Reply {
        let readable = try await history(command, of: reader.topics, for: caller)
        guard let own = reader.sender, [nil, own].contains(command.filter.sender) else { return readable }
        var filter = command.filter
        filter.sender = own
        let sent = try await request(ListMessages(limit: command.limit, before: command.before, filter: filter), context: caller)
        return ListMessages.Reply(merging: [readable, sent], limit: Int(command.limit))
    }

    /// A page of the archive with the messages of some topics.
    ///
    /// - Parameters:
    ///   - topics: The topics; `nil` for all. If they are too many for one command, the pages of several are merged.
    ///   - maxTopics: The maximum number of topics of a command.
    /// - Throws: ``CommandFailure``.
    func history(
        _ command: ListMessages, of topics: [TopicKey]?, maxTopics: Int = ListMessages.maxTopics, for caller: RequestContext
    ) async throws(CommandFailure) -> ListMessages.Reply {
        let whole = command.restricted(to: topics)
        guard let possible = whole.filter.possibleTopics, possible.count > maxTopics else {
            return try await request(whole.restricted(to: whole.filter.possibleTopics), context: caller)
        }
        var pages: [ListMessages.Reply] = []
        for start in stride(from: 0, to: possible.count, by: maxTopics) {
            let part = Array(possible[start..<min(start + maxTopics, possible.count)])
            pages.append(try await request(command.restricted(to: part), context: caller))
        }
        return ListMessages.Reply(merging: pages, limit: Int(command.limit))
    }
}

extension ListMessages.Reply {
    /// One page of the newest messages of several, each once.
    init(merging pages: [ListMessages.Reply], limit: Int) {
        var seen: Set<ObjectID> = []
        let all = pages.flatMap(\.messages).filter { seen.insert($0.msiKey).inserted }
            .sorted { ($0.timestamp, $0.msiKey) > ($1.timestamp, $1.msiKey) }
        let messages = Array(all.prefix(limit))
        let hasMore = all.count > limit || pages.contains { $0.next != nil }
        self.init(
            messages: messages,
            next: hasMore ? messages.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) } : nil)
    }
}
