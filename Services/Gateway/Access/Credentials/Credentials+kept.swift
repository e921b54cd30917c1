import CommandBus
import Schemas
import Synchronization

extension Credentials {
    /// The copies for the gateway's file; `nil` before there are any.
    var kept: KeptCredentials? {
        let signOuts = signOuts.withLock(\.all)
        return cache.withLock { cache in
            cache.forgetFormerEnds(at: .now)
            guard let confirmed = cache.confirmed, let sequence = cache.applied else { return nil }
            return KeptCredentials(
                confirmed: UnixMilliseconds(of: confirmed), sequence: sequence,
                credentials: cache.copies.map { HashedCredential(hash: $0, credential: $1) },
                ended: cache.ended.map { EndedCredential(hash: $0, at: $1) }, signOuts: signOuts)
        }
    }

    /// Grows with each change of what is kept.
    var revision: Int { cache.withLock(\.revision) + signOuts.withLock(\.revision) }

    /// Uses the copies of the gateway's file.
    func restore(_ kept: KeptCredentials) {
        guard let confirmed = kept.confirmed.instant else { return }
        cache.withLock { $0.restore(kept, confirmed: confirmed) }
        signOuts.withLock { signOuts in
            for signOut in kept.signOuts { signOuts.add(signOut) }
        }
    }
}
