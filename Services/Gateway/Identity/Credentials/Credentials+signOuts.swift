import Bus
import Logging
import Schemas
import Synchronization

extension Credentials {
    /// How long a sign-out waits for the people service.
    private static var signOutTimeout: Duration { .milliseconds(500) }

    /// Ends a sign-in: at this gateway at once, and at other gateways after the people service has stored the end. Until the people
    /// service answers, the command is repeated. When this returns, the end is on disk, at the people service or at this gateway.
    ///
    /// - Throws: ``CommandFailure`` of the people service if the end is on neither disk. The sign-in is ended in this process
    ///   alone, and the command is repeated while it runs.
    func signOut(_ hash: CredentialHash, for caller: CallerContext) async throws(CommandFailure) {
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

    /// Repeats the sign-outs that the people service has not confirmed.
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
            let context = CallerContext(actor: signOut.actor, address: signOut.address)
            _ = try await people.request(EndSignIn(hash: signOut.hash), timeout: Self.signOutTimeout, context: context)
        } catch {
            logger.debug("a sign-out is repeated", metadata: ["error": "\(error)"])
            throw error
        }
    }
}

/// A sign-out that the people service has not confirmed.
struct PendingSignOut: Hashable, Codable, Sendable {
    let hash: CredentialHash
    let actor: String?
    /// The client's network address.
    let address: String?
}

/// The sign-outs that the people service has not confirmed, oldest first. Pure.
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
