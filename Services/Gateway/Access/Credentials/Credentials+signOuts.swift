import CommandBus
import Logging
import Schemas
import Synchronization

extension Credentials {
    /// How long a sign-out waits for the people service.
    private static var signOutTimeout: Duration { .milliseconds(500) }

    /// Ends a sign-in: at this gateway at once, and everywhere when the people service knows. While that is away, the command is
    /// repeated until it is answered. When this returns, the end is on disk, of the people service or of this gateway.
    ///
    /// - Throws: ``CommandFailure`` of the people service if the end is on neither. It counts at this gateway, and is repeated, until the
    ///   gateway ends.
    func signOut(_ hash: CredentialHash, for caller: RequestContext) async throws(CommandFailure) {
        cache.withLock { $0.end(hash) }
        let signOut = PendingSignOut(hash: hash, actor: caller.actor, address: caller.address)
        do throws(CommandFailure) {
            try await end(signOut)
            await keepEnds()
        } catch {
            let isRepeated = signOuts.withLock { $0.add(signOut) }
            guard await keepEnds(), isRepeated else { throw error }
        }
    }

    /// Writes the ends into the gateway's file before they are answered, so that no later process uses old copies.
    ///
    /// - Returns: Whether they are on disk.
    @discardableResult
    func keepEnds() async -> Bool {
        guard let keep = keep.withLock(\.self) else { return false }
        do {
            try await keep()
            return true
        } catch {
            logger.debug("the ends of credentials cannot be kept", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Repeats the sign-outs that were not answered.
    func repeatSignOuts() async {
        while let signOut = signOuts.withLock(\.first) {
            do throws(CommandFailure) {
                try await end(signOut)
            } catch {
                return
            }
            signOuts.withLock { $0.remove(signOut) }
        }
    }

    /// - Throws: ``CommandFailure`` if the people service has not stored it.
    private func end(_ signOut: PendingSignOut) async throws(CommandFailure) {
        do throws(CommandFailure) {
            let context = RequestContext(actor: signOut.actor, address: signOut.address)
            _ = try await people.request(EndSignIn(hash: signOut.hash), timeout: Self.signOutTimeout, context: context)
        } catch {
            logger.debug("a sign-out is repeated", metadata: ["error": "\(error)"])
            throw error
        }
    }
}

/// A sign-out that the people service does not know of yet.
struct PendingSignOut: Hashable, Codable, Sendable {
    let hash: CredentialHash
    let actor: String?
    /// The client's network address.
    let address: String?
}

/// The sign-outs that the people service does not know of yet, oldest first. Pure.
struct PendingSignOuts: Sendable {
    static let maxKept = 10_000

    private(set) var all: [PendingSignOut] = []
    /// Grows with each change.
    private(set) var revision = 0

    var first: PendingSignOut? { all.first }

    /// - Returns: Whether there is room for it.
    @discardableResult
    mutating func add(_ signOut: PendingSignOut) -> Bool {
        guard all.count < Self.maxKept else { return false }
        all.append(signOut)
        revision += 1
        return true
    }

    mutating func remove(_ signOut: PendingSignOut) {
        all.removeAll { $0 == signOut }
        revision += 1
    }
}
