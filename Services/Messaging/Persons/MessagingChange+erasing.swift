import Base
import Schemas
import Store

/// The parts of the erasure of a person. Each changes a page of documents, which it does not find the next time. Accounts are in
/// lower case.
extension MessagingChange {
    /// Notes that a person is erased, and writes the person's document: a simultaneous change of the person runs again then, and
    /// is refused.
    mutating func refuseErased(_ account: AccountName) throws {
        let erased = ErasedPersonDocument(
            id: ErasedPersonDocument.identifier(of: account), expires: now + PersonLimits.endedTime)
        try transaction.overwrite(with: erased, in: MessagingStore.erased)
        _ = try nextPosition(of: account)
    }

    mutating func eraseConversations(of person: String, limit: Int) throws -> Int {
        let first = Query(
            where: MessagingStore.firstAccount == person, order: .ascending(MessagingStore.firstChanged))
        let second = Query(
            where: MessagingStore.secondAccount == person, order: .ascending(MessagingStore.secondChanged))
        return try delete(first, from: MessagingStore.conversations, limit: limit)
            + delete(second, from: MessagingStore.conversations, limit: limit)
    }

    mutating func eraseDigests(of person: String, limit: Int) throws -> Int {
        let (from, to) = (Query(where: MessagingStore.digestFrom == person), Query(where: MessagingStore.digestTo == person))
        return try delete(from, from: MessagingStore.digests, limit: limit)
            + delete(to, from: MessagingStore.digests, limit: limit)
    }

    /// The person's status, with who has seen it.
    mutating func eraseStatus(of person: String) throws -> Int {
        guard try transaction.get(person, from: MessagingStore.statuses) != nil else { return 0 }
        try removeStatus(of: person)
        return 1
    }

    /// Which statuses of others the person has seen. By how many they were seen stays.
    mutating func eraseViews(by person: String, limit: Int) throws -> Int {
        try delete(Query(where: MessagingStore.viewViewer == person), from: MessagingStore.views, limit: limit)
    }

    mutating func eraseReports(about person: String, limit: Int) throws -> Int {
        try removeReports(Query(where: MessagingStore.reportAccount == person), limit: limit)
    }

    /// The person's reports of others stay, without the name.
    mutating func eraseReporter(_ person: String, limit: Int) throws -> Int {
        let own = Query(where: MessagingStore.reportReporter == person)
        let found = try transaction.page(of: MessagingStore.reports, own, limit: limit).documents.map(\.id)
        for id in found {
            try transaction.update(id, in: MessagingStore.reports) { report in
                report.reporter = nil
                report.reporterName = nil
            }
        }
        return found.count
    }

    mutating func eraseDevices(of person: String, limit: Int) throws -> Int {
        try delete(Query(where: MessagingStore.deviceAccount == person), from: MessagingStore.devices, limit: limit)
    }
}
