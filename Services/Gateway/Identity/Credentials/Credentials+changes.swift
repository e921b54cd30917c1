import Bus
import Schemas
import Synchronization
import Base

extension Credentials {
    /// A new or changed sign-in of this gateway.
    ///
    /// - Parameter asked: When it was requested.
    func learned(_ credential: Credential, for hash: CredentialHash, asked: ContinuousClock.Instant = .now) {
        _ = cache.withLock { $0.add(credential, for: hash, asked: asked) }
    }

    /// Makes a change of credentials. When it returns, no copy shows the state before the change. That holds even if the people
    /// service stops now, and if this gateway is killed and starts again.
    ///
    /// - Parameters:
    ///   - target: The credentials that it changes.
    ///   - ends: Whether it ends the existing ones.
    func change<Value>(
        _ target: CredentialTarget, ends: Bool = false, _ edit: () async throws -> Value
    ) async throws -> Value {
        let previous = cache.withLock { $0.hashes(of: target) }
        let value = try await edit()
        let changed = cache.withLock { $0.changed(target, ended: ends ? previous : [], at: .now) }
        if !changed.isEmpty {
            let request = Task { await self.request(changed) }
            _ = await request.finishes(by: .now + Self.shortTimeout)
        }
        if ends || !changed.isEmpty { await keepEnds() }
        return value
    }
}

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

/// The latest changes through this gateway. Answers that were requested earlier may show the state before the change. Pure.
struct OwnCredentialChanges: Sendable {
    /// How long a change is remembered: longer than any request for a credential takes.
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
