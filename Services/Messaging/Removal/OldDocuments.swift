import Base
import Schemas
import Store

/// Removes what is kept for a time: conversations without messages, closed reports, and devices that have not asked for messages
/// for five weeks. Messages do not wait for these any more, and with the next fetch they are new ones.
struct OldDocuments: Sendable {
    let changes: MessagingChanges

    static let period = Duration.seconds(60)
    /// How many documents one transaction removes.
    private static let pageSize = 200
    private static let devicesKeptFor = Milliseconds.seconds(35 * 86_400)

    /// Removes all that is old enough.
    func round() async throws {
        try await changes.makeAll { try $0.removeConversations(limit: Self.pageSize) }
        try await changes.makeAll { change in
            let old = Query(where: MessagingStore.reportEnd <= change.now, order: .ascending(MessagingStore.reportEnd))
            return try change.removeReports(old, limit: Self.pageSize)
        }
        try await changes.makeAll { change in
            let end = change.now - Self.devicesKeptFor
            let old = Query(where: MessagingStore.deviceSeen <= end, order: .ascending(MessagingStore.deviceSeen))
            return try change.delete(old, from: MessagingStore.devices, limit: Self.pageSize)
        }
    }
}

extension MessagingChanges {
    /// Repeats a change until it finds nothing more.
    ///
    /// - Parameter part: Changes a page of documents, which it does not find the next time, and returns how many it has found.
    /// - Returns: How many it has found in all.
    @discardableResult
    func makeAll(_ part: @escaping @Sendable (inout MessagingChange) throws -> Int) async throws -> Int {
        var count = 0
        while true {
            let found = try await make(by: .program, part)
            guard found > 0 else { return count }
            count += found
        }
    }
}

extension MessagingChange {
    /// Removes the first documents of a query.
    ///
    /// - Returns: How many there were.
    mutating func delete<Document>(
        _ query: Query<Document>, from collection: Collection<Document>, limit: Int
    ) throws -> Int {
        let found = try transaction.page(of: collection, query, limit: limit).documents.map(\.document.id)
        try transaction.delete(found, from: collection)
        if !found.isEmpty { removed() }
        return found.count
    }

    /// Removes reports with their pictures.
    ///
    /// - Returns: How many there were.
    mutating func removeReports(_ query: Query<ReportDocument>, limit: Int) throws -> Int {
        let found = try transaction.page(of: MessagingStore.reports, query, limit: limit).documents.map(\.document)
        for report in found {
            if let picture = report.picture { try release(picture.use) }
        }
        try transaction.delete(found.map(\.id), from: MessagingStore.reports)
        if !found.isEmpty { removed() }
        return found.count
    }

    /// Who has written to whom is not kept for ever. The digests of the last messages end as well.
    fileprivate mutating func removeConversations(limit: Int) throws -> Int {
        let end = (now - Milliseconds.seconds(Int64(rules.digestDays) * 86_400)).rawValue
        let old = Query(where: MessagingStore.conversationLast <= end, order: .ascending(MessagingStore.conversationLast))
        let found = try transaction.page(of: MessagingStore.conversations, old, limit: limit).documents.map(\.id)
        // Those whose messages have not been removed yet are found again after that.
        let empty = try found.filter { id in
            let messages = Query(
                where: MessagingStore.messageConversation == id, order: .ascending(MessagingStore.messageNumber))
            return try transaction.page(of: MessagingStore.messages, messages, limit: 1).documents.isEmpty
        }
        try transaction.delete(empty, from: MessagingStore.conversations)
        if !empty.isEmpty { removed() }
        return empty.count
    }
}
