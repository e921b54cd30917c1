import Base
import Schemas
import Store

/// A way in which a person signs in at a provider. That of the university's provider is also in the account (``AccountDocument/openID``), by
/// which it is found.
struct IdentityDocument: StoredDocument, Hashable {
    /// The provider, its issuer and the subject there, with spaces between them. So nobody else can have the identity.
    let id: String
    /// The account's name in lower case.
    let account: String
    let provider: IdentityProvider
    /// The address that the provider has verified.
    var email: String?
    let linked: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case account, provider, email, linked
    }

    init(_ identity: ProvenIdentity, of account: AccountDocument, now: UnixMilliseconds) {
        id = identity.id
        self.account = account.id
        provider = identity.provider
        email = identity.email
        linked = now
    }
}

extension PeopleStore {
    static let identityAccount = Field("account", \IdentityDocument.account)

    static let identities = Collection<IdentityDocument>("identity", indexes: [.on(identityAccount)], reserve: .changes)
}

extension Transaction {
    /// The account of a person, also a removed or disabled one.
    func account(of identity: ProvenIdentity) throws -> AccountDocument? {
        if let person = identity.openID { return try account(of: person) }
        guard let found = try get(identity.id, from: PeopleStore.identities)?.document else { return nil }
        return try get(found.account, from: PeopleStore.accounts)?.document
    }

    /// What the providers have said about an account's person, at most one document for each provider.
    func identities(of account: AccountDocument) throws -> [IdentityDocument] {
        let query = Query(where: PeopleStore.identityAccount == account.id)
        let found = try page(of: PeopleStore.identities, query, limit: 2 * IdentityProvider.allCases.count).documents
        // A super user may have given the account to another person of the university.
        return found.map(\.document).filter { $0.provider != .university || $0.id == account.openID?.identity }
    }

    /// Stores what a provider has said about the person of an account.
    func remember(_ identity: ProvenIdentity, of account: AccountDocument, at now: UnixMilliseconds) throws {
        let known = try get(identity.id, from: PeopleStore.identities)?.document
        if let known, known.account == account.id {
            guard known.email != identity.email else { return }
            try update(identity.id, in: PeopleStore.identities) { $0.email = identity.email }
        } else {
            // One that is there is the university's: a super user has given its person another account.
            try overwrite(with: IdentityDocument(identity, of: account, now: now), in: PeopleStore.identities)
        }
    }

    /// An account as its person sees it.
    func person(of account: AccountDocument) throws -> Person {
        let stored = try identities(of: account)
        var linked = stored.map { LinkedIdentity(provider: $0.provider, email: $0.email, linked: $0.linked) }
        if account.openID != nil, !linked.contains(where: { $0.provider == .university }) {
            linked.append(LinkedIdentity(provider: .university, email: nil, linked: account.created))
        }
        if account.password != nil {
            linked.append(LinkedIdentity(provider: .password, email: nil, linked: account.created))
        }
        return Person(
            account: account.name, displayName: account.displayName, role: account.role, professor: account.professor,
            created: account.created, identities: linked)
    }
}

extension OpenIDSubject {
    /// The id of its ``IdentityDocument``.
    fileprivate var identity: String { "\(IdentityProvider.university.rawValue) \(issuer) \(subject)" }
}
