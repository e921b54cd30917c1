import Schemas

/// The credentials that a change concerns.
enum CredentialTarget: Hashable, Sendable {
    /// All of an account.
    case account(AccountName)
    case credential(CredentialHash)
    /// That of the token with this id.
    case token(ObjectID)

    func contains(_ credential: Credential, _ hash: CredentialHash) -> Bool {
        switch self {
        case .account(let account): credential.account == account
        case .credential(let own): own == hash
        case .token(let id): credential.kind == .token && credential.id == id
        }
    }
}

/// The latest changes through this gateway. Answers that were requested before them may show the former state. Pure.
struct OwnCredentialChanges: Sendable {
    /// Longer than any request for a credential takes.
    private static let kept: Duration = .seconds(10)

    private var changes: [(target: CredentialTarget, at: ContinuousClock.Instant)] = []

    mutating func add(_ target: CredentialTarget, at now: ContinuousClock.Instant) {
        changes.removeAll { now - $0.at > Self.kept }
        changes.append((target, now))
    }

    /// Whether a credential may have been changed after it was requested.
    func contain(_ credential: Credential, _ hash: CredentialHash, after asked: ContinuousClock.Instant) -> Bool {
        changes.contains { asked < $0.at && $0.target.contains(credential, hash) }
    }
}
