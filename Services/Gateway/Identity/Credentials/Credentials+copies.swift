import Bus
import Logging
import Schemas
import Synchronization

extension Credentials {
    private static let pageSize = 200
    private static let maxAttempts = 10

    /// Reads all valid credentials: at the start, after a silence of the people service, and after changes that it cannot list
    /// individually.
    func listIfNecessary() async {
        let (mustList, generation) = cache.withLock { ($0.mustList, $0.generation) }
        guard mustList else { return }
        do throws(CommandFailure) {
            var next: String?
            repeat {
                next = try await readPage(after: next)
            } while next != nil
            cache.withLock { $0.listed(in: generation) }
        } catch {
            // The next check begins again.
            logger.debug("the credentials cannot be listed", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: Where the next page begins.
    private func readPage(after: String?) async throws(CommandFailure) -> String? {
        // A page may be older than a change that this gateway has heard of.
        for _ in 0..<Self.maxAttempts {
            let asked = ContinuousClock.now
            let page = try await people.request(ListCredentials(limit: Self.pageSize, after: after), timeout: Self.findTimeout)
            let areCurrent = cache.withLock { cache in
                page.credentials.map { cache.add($0.credential, for: $0.hash, asked: asked) }
            }
            if areCurrent.allSatisfy(\.self) { return page.next }
        }
        throw CommandFailure(.unavailable, "the people service answers with old data")
    }
}

extension Credentials {
    /// The copies for the gateway's file; `nil` before there are any.
    var kept: KeptCredentials? {
        let signOuts = signOuts.withLock(\.all)
        return cache.withLock { cache in
            cache.forgetOldEnds(at: .now)
            guard let confirmed = cache.confirmed, let sequence = cache.applied else { return nil }
            return KeptCredentials(
                confirmed: UnixMilliseconds(of: confirmed), sequence: sequence,
                credentials: cache.copies.map { HashedCredential(hash: $0, credential: $1) },
                ended: cache.ended.map { EndedCredential(hash: $0, at: $1) }, signOuts: signOuts)
        }
    }

    /// Grows with each change of ``kept``.
    var revision: Int { cache.withLock(\.revision) + signOuts.withLock(\.revision) }

    /// Uses the copies of the gateway's file.
    func restore(_ kept: KeptCredentials) {
        restore(kept.signOuts)
        guard let confirmed = kept.confirmed.instant else { return }
        cache.withLock { $0.restore(kept, confirmed: confirmed) }
    }

    /// Ends the sign-ins of an earlier process, and repeats their ends to the people service.
    func restore(_ pending: [PendingSignOut]) {
        cache.withLock { cache in
            for signOut in pending { cache.end(signOut.hash) }
        }
        signOuts.withLock { signOuts in
            for signOut in pending { signOuts.add(signOut) }
        }
    }
}
