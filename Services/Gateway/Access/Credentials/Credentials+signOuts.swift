import CommandBus
import Logging
import Schemas
import Synchronization

extension Credentials {
    /// How long a sign-out waits for the people service.
    private static var signOutTimeout: Duration { .milliseconds(500) }

    /// Ends a sign-in: at this gateway at once, and everywhere when the people service knows. While that is away, the command is
    /// repeated until it is answered.
    func signOut(_ hash: CredentialHash, for caller: RequestContext) async {
        cache.withLock { $0.end(hash) }
        let signOut = PendingSignOut(hash: hash, actor: caller.actor, address: caller.address)
        if await !end(signOut) { signOuts.withLock { $0.add(signOut) } }
    }

    /// Repeats the sign-outs that were not answered.
    func repeatSignOuts() async {
        while let signOut = signOuts.withLock(\.first) {
            guard await end(signOut) else { return }
            signOuts.withLock { $0.remove(signOut) }
        }
    }

    /// - Returns: Whether the people service has answered.
    private func end(_ signOut: PendingSignOut) async -> Bool {
        do throws(CommandFailure) {
            let context = RequestContext(actor: signOut.actor, address: signOut.address)
            _ = try await people.request(EndSignIn(hash: signOut.hash), timeout: Self.signOutTimeout, context: context)
            return true
        } catch {
            logger.debug("a sign-out is repeated", metadata: ["error": "\(error)"])
            return false
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
    /// Further ones end only at this gateway.
    static let maxKept = 10_000

    private(set) var all: [PendingSignOut] = []
    /// Grows with each change.
    private(set) var revision = 0

    var first: PendingSignOut? { all.first }

    mutating func add(_ signOut: PendingSignOut) {
        guard all.count < Self.maxKept else { return }
        all.append(signOut)
        revision += 1
    }

    mutating func remove(_ signOut: PendingSignOut) {
        all.removeAll { $0 == signOut }
        revision += 1
    }
}
