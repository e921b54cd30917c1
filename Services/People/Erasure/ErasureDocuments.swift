import Base
import Crypto
import FoundationEssentials
import Schemas
import ServiceKit
import Store

/// The erasure of a person, from its beginning until a month after its end.
struct ErasureDocument: StoredDocument, Hashable {
    /// How long the report of a finished one is kept.
    static let keptFor = Milliseconds.seconds(30 * 86_400)

    static let action = "person.erase"

    let id: ObjectID
    /// `nil` once all services have answered: the name is forgotten then.
    var account: AccountName?
    /// Of the name, as in ``ErasedName``.
    let digest: String
    let begun: UnixMilliseconds
    /// When nothing was left in any service; `nil` before.
    var finished: UnixMilliseconds?
    /// The services that have answered.
    var services: [ErasureReport.Service]
    var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case account, digest, begun, finished, services, expires
    }

    init(of account: AccountName, digest: String, removed: ErasureReport.Service, now: UnixMilliseconds) {
        id = ObjectID()
        self.account = account
        self.digest = digest
        begun = now
        services = [removed]
    }

    /// The services that are asked to erase, in this order. The message log is the last one: before, the others may hand over pushes to the
    /// person.
    static let others: [ServiceEntry] =
        ServiceEntry.withPersonalData.filter { $0 != .people && $0 != .messageLog } + [.messageLog]

    /// The other services that have not answered.
    var unanswered: [String] {
        Self.others.map(\.name).filter { name in !services.contains { $0.service == name } }
    }

    /// Whether a service is to be asked now.
    func isToAsk(_ name: String) -> Bool {
        unanswered.contains(name) && (name != ServiceEntry.messageLog.name || unanswered.count == 1)
    }

    var report: ErasureReport {
        // At the end this service waits until its own files have no trace any more.
        let own = finished == nil && unanswered.isEmpty ? [ServiceEntry.people.name] : []
        return ErasureReport(id: id, begun: begun, finished: finished, services: services, waiting: unanswered + own)
    }
}

/// The name of an erased person, which is never given again.
struct ErasedName: StoredDocument, Hashable {
    /// The HMAC-SHA256 of the name in lower case, in hexadecimal digits.
    let id: String
    let at: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case at
    }
}

extension PeopleStore {
    static let erasureEnd = Field("finished", \ErasureDocument.finished)
    static let erasureExpiry = Field("expires", \ErasureDocument.expires)

    static let erasures = Collection<ErasureDocument>(
        "erasure", indexes: [.on(erasureEnd), .expiring(erasureExpiry)], reserve: .everything)
    static let erasedNames = Collection<ErasedName>("erased_name", reserve: .everything)
}

extension SealingKey {
    /// The id of the key of ``ErasedName``.
    static let names = "names"
}

extension Transaction {
    /// Whether the person of an account with this name was erased.
    func isErased(_ name: AccountName) throws -> Bool {
        guard let key = try get(SealingKey.names, from: PeopleStore.keys)?.document.key else { return false }
        return try get(name.digest(by: key), from: PeopleStore.erasedNames) != nil
    }

    /// The key of the digests. The first call makes it.
    func namesKey() throws -> SymmetricKey {
        if let stored = try get(SealingKey.names, from: PeopleStore.keys)?.document { return try stored.key }
        let new = SealingKey(id: SealingKey.names, bytes: Data.random(count: 32).base64EncodedString())
        return try insert(new, into: PeopleStore.keys).document.key
    }

    /// The erasure of an account, until it has ended; `nil` if there is none.
    func unfinishedErasure(of name: AccountName) throws -> ErasureDocument? {
        guard try isErased(name) else { return nil }
        var cursor: Cursor?
        repeat {
            let page = try page(
                of: PeopleStore.erasures, Query(where: PeopleStore.erasureEnd == nil), after: cursor, limit: 100)
            if let found = page.documents.first(where: { $0.account == name }) { return found.document }
            cursor = page.next
        } while cursor != nil
        return nil
    }
}

extension Transaction {
    /// Takes the names of erasures that are to be repeated after a restore (``RepeatedErasures``) from the audit log.
    func nameRepeatedErasures(by key: SymmetricKey) throws {
        let unfinished = try page(of: PeopleStore.erasures, Query(where: PeopleStore.erasureEnd == nil), limit: 1_000)
        for erasure in unfinished.documents where erasure.account == nil && !erasure.document.unanswered.isEmpty {
            let entries = Query(where: AuditStore.action == ErasureDocument.action, AuditStore.at == erasure.begun)
            let names = try page(of: AuditStore.links, entries, limit: 100).documents.compactMap { AccountName($0.object) }
            guard let name = names.first(where: { $0.digest(by: key) == erasure.digest }) else { continue }
            try update(erasure.id, in: PeopleStore.erasures) { $0.account = name }
        }
    }
}

extension AccountName {
    func digest(by key: SymmetricKey) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(self.key.utf8), using: key).hexadecimal
    }
}
