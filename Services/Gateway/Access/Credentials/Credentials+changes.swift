import CommandBus
import Schemas
import Synchronization
import Time

extension Credentials {
    /// A new or changed sign-in of this gateway.
    ///
    /// - Parameter asked: When it was requested.
    func learned(_ credential: Credential, for hash: CredentialHash, asked: ContinuousClock.Instant = .now) {
        _ = cache.withLock { $0.add(credential, for: hash, asked: asked) }
    }

    /// Makes a change of credentials. When it returns, no copy shows the former state, even if the people service goes away now, and if
    /// this gateway is killed and starts again.
    ///
    /// - Parameters:
    ///   - target: The credentials that it changes.
    ///   - ends: Whether it ends those that there are.
    func change<Value>(
        _ target: CredentialTarget, ends: Bool = false, _ edit: () async throws -> Value
    ) async throws -> Value {
        let former = cache.withLock { $0.hashes(of: target) }
        let value = try await edit()
        let changed = cache.withLock { $0.changed(target, ended: ends ? former : [], at: .now) }
        if !changed.isEmpty {
            let request = Task { await self.request(changed) }
            _ = await request.finishes(by: .now + Self.shortTimeout)
        }
        if ends || !changed.isEmpty { await keepEnds() }
        return value
    }
}
