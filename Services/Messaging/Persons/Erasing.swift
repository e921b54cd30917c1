import PersonPushes
import Schemas
import Store

/// Removes all that the service has of a person. It is done in many short transactions, and can be interrupted and run again.
struct PersonErasing: Sendable {
    let changes: MessagingChanges
    let removal: MessageRemoval

    /// How many documents one transaction changes, and how many with a picture of up to a mebibyte each.
    private static let pageSize = 500
    private static let picturePageSize = 20

    private static let stays = [
        "the copies on the devices of those who got a message",
        "the account's name in the audit log, where a super user has read or closed a report about it",
        "for 13 hours a hash of the account's name, so that nobody writes or reads with a token of the account",
        "for five weeks keyed digests of its conversations in removed-messages.log, so that a restore removes its messages again",
    ]

    /// - Returns: What was removed by this call, and what stays.
    /// - Throws: ``CommandFailure``; then a part of it may be left, for the next call.
    func erase(_ account: AccountName) async throws -> ErasePerson.Reply {
        let person = account.key
        // From here on nothing of the person is stored.
        try await changes.make(by: .program) { change in try change.refuseErased(account) }
        let removed = [
            // Before the conversations and the pictures, which the messages have.
            ErasedData(what: "messages", count: try await removeMessages(of: person)),
            ErasedData(what: "conversations", count: try await all { try $0.eraseConversations(of: person, limit: $1) }),
            ErasedData(what: "digests", count: try await all { try $0.eraseDigests(of: person, limit: $1) }),
            ErasedData(what: "statuses", count: try await all { change, _ in try change.eraseStatus(of: person) }),
            // Before the pictures, so that those of reports about the person are gone.
            ErasedData(
                what: "reports",
                count: try await all(Self.picturePageSize) { try $0.eraseReports(about: person, limit: $1) }),
            ErasedData(
                what: "pictures", count: try await all(Self.picturePageSize) { try $0.releaseAll(of: person, limit: $1) }),
            ErasedData(
                what: "pushes", count: try await changes.store.forgetPushes(of: account, in: MessagingStore.queuedPushes)),
        ]
        _ = try await all { try $0.eraseViews(by: person, limit: $1) }
        _ = try await all { try $0.eraseReporter(person, limit: $1) }
        _ = try await all { try $0.eraseDevices(of: person, limit: $1) }
        try await changes.store.transaction { try $0.delete([person], from: MessagingStore.persons) }
        // No query finds what has expired, and it is stored for a moment longer.
        try await changes.store.removeExpired()
        try await changes.store.removeTracesPatiently()
        return ErasePerson.Reply(removed: removed, stays: Self.stays)
    }

    /// Messages to the person, and those by the person.
    private func removeMessages(of person: String) async throws -> Int {
        let queries: [Query<DirectMessageDocument>] = [
            Query(where: MessagingStore.messageTo == person, order: .ascending(MessagingStore.messageToPosition)),
            Query(where: MessagingStore.messageFrom == person, order: .ascending(MessagingStore.messageFromPosition)),
        ]
        var count = 0
        for query in queries {
            while true {
                let page = try await changes.store.page(
                    of: MessagingStore.messages, query, limit: MessageBatch.maxMessages)
                guard !page.documents.isEmpty else { break }
                count += try await removal.remove(page.documents.map(\.document), because: .erased)
            }
        }
        return count
    }

    /// Repeats a part until it finds nothing more.
    ///
    /// - Parameter part: Changes as many documents as its second parameter says, and returns how many it has found.
    /// - Returns: How many it has found in all.
    private func all(
        _ limit: Int = Self.pageSize, _ part: @escaping @Sendable (inout MessagingChange, Int) throws -> Int
    ) async throws -> Int {
        try await changes.makeAll { change in try part(&change, limit) }
    }
}
