import Base
import Crypto
import FoundationEssentials
import Schemas
import Synchronization

/// The nonces that devices sign, each once. The key that seals them is this process's, so that none is valid after a restart, which forgets
/// which were used.
final class Challenges: Sendable {
    private struct Challenge: SealedText {
        static let kind = "challenge"
        static let lifetime = PersonLimits.nonceTime

        let id: ObjectID
        let made: UnixMilliseconds
    }

    private let key = SymmetricKey(size: .bits256)
    private let used = Mutex(UsedChallenges())
    private let now: @Sendable () -> UnixMilliseconds

    init(now: @escaping @Sendable () -> UnixMilliseconds) {
        self.now = now
    }

    /// A new nonce.
    ///
    /// - Throws: An error of the cryptography.
    func make() throws -> ChallengeDevice.Reply {
        let challenge = Challenge(id: ObjectID(), made: now())
        return ChallengeDevice.Reply(nonce: try challenge.sealed(by: key), expires: challenge.made + Challenge.lifetime)
    }

    /// Accepts a nonce, once.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` with the field `nonce` if it is not one, too old, or was used; `overloaded` if too
    ///   many were used within a short time.
    func use(_ nonce: Secret) throws(CommandFailure) {
        let now = now()
        // One of the future was made before the clock was set back, and would be valid for too long.
        guard let challenge = try? Challenge(nonce, key: key, now: now), challenge.made <= now else { throw Self.refusal }
        switch used.withLock({ $0.use(challenge.id, now: now) }) {
        case .first: return
        case .again: throw Self.refusal
        case .full:
            throw CommandFailure(.overloaded, "too many devices are signing in; try again", retryAfter: .seconds(5))
        }
    }

    private static var refusal: CommandFailure {
        CommandFailure(
            .unauthenticated, "nonce: it is too old, was used, or was made before a restart; ask for another one", field: "nonce")
    }
}

/// The nonces that were used. None is forgotten while it is valid. Pure.
struct UsedChallenges: Sendable {
    enum Use: Hashable, Sendable {
        case first, again
        /// No further one can be remembered now.
        case full
    }

    private let maxNonces: Int
    /// The used ones of this period and of the one before. A period is as long as a nonce is valid.
    private var current: Set<ObjectID> = []
    private var previous: Set<ObjectID> = []
    private var begun: UnixMilliseconds?

    init(maxNonces: Int = 100_000) {
        self.maxNonces = maxNonces
    }

    mutating func use(_ nonce: ObjectID, now: UnixMilliseconds) -> Use {
        // Also after the clock was set back.
        if begun.map({ !($0..<$0 + PersonLimits.nonceTime).contains(now) }) ?? true {
            previous = current
            current = []
            begun = now
        }
        guard !current.contains(nonce), !previous.contains(nonce) else { return .again }
        guard current.count < maxNonces else { return .full }
        current.insert(nonce)
        return .first
    }
}
