import CommandBus
import Logging
import Schemas
import Synchronization

extension Credentials {
    private static let pageSize = 200
    private static let maxAttempts = 10

    /// Reads all valid credentials: at the start, after a silence of the people service, and after changes that it does not know one by
    /// one.
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
        // A page may be older than a change that is known here.
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
