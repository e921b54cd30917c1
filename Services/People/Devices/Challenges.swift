import Base
import Schemas
import Store

/// Makes the nonces that devices sign, each once. The key that seals them and those that were used are in the store, so each instance of the
/// service takes those of the others, also after a restart.
struct Challenges: Sendable {
    private let store: Storage
    private let now: @Sendable () -> UnixMilliseconds

    init(store: Storage, now: @escaping @Sendable () -> UnixMilliseconds) {
        self.store = store
        self.now = now
    }

    /// A new nonce.
    ///
    /// - Throws: ``CommandFailure``; an error of the cryptography.
    func make() async throws -> ChallengeDevice.Reply {
        let challenge = Challenge(id: ObjectID(), made: now())
        let nonce = try challenge.sealed(by: await store.sealingKey(SealingKey.challenges))
        return ChallengeDevice.Reply(nonce: nonce, expires: challenge.made + Challenge.lifetime)
    }

    /// Reads a nonce. What it allows then uses it up in its transaction.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `nonce` if it is not one, is too old, or was used.
    func challenge(_ nonce: Secret) async throws -> Challenge {
        let moment = now()
        return try await store.snapshot { try $0.challenge(nonce, at: moment) }
    }
}

/// What a nonce contains.
struct Challenge: SealedText {
    static let kind = "challenge"
    static let lifetime = PersonLimits.nonceTime

    let id: ObjectID
    let made: UnixMilliseconds
}

extension SealingKey {
    /// The id of the key of ``Challenge``.
    static let challenges = "challenge"
}

extension Transaction {
    /// Reads a nonce.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `nonce` if it is not one, is too old, or was used.
    func challenge(_ nonce: Secret, at now: UnixMilliseconds) throws -> Challenge {
        // One of the future was made before the clock was set back, and would be valid for too long. Clocks of instances differ a little.
        guard let key = try get(SealingKey.challenges, from: PeopleStore.keys)?.document.key,
            let challenge = try? Challenge(nonce, key: key, now: now),
            challenge.made <= now + PeopleLimits.clockTolerance
        else { throw CommandFailure.unusableNonce }
        try requireUnused(UsedTokenDocument(challenge))
        return challenge
    }

    /// Uses a nonce up, in the transaction of what it allows.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `nonce` if it was used.
    func use(_ challenge: Challenge) throws {
        let used = UsedTokenDocument(challenge)
        try requireUnused(used)
        try insert(used, into: PeopleStore.usedTokens)
    }

    private func requireUnused(_ nonce: UsedTokenDocument) throws {
        guard try get(nonce.id, from: PeopleStore.usedTokens) == nil else { throw CommandFailure.unusableNonce }
    }
}

extension CommandFailure {
    fileprivate static var unusableNonce: CommandFailure {
        CommandFailure(
            .unauthenticated, "nonce: it is too old, was used, or is not of this hub; ask for another one", field: "nonce")
    }
}
