import Schemas

/// The tokens of devices whose signatures were right, by their hashes: an hour's requests of a device need one check of a signature. Pure.
struct VerifiedTokens: Sendable {
    /// After the end of a token the clocks of two machines may differ by less than this, in seconds.
    private static let leeway: Int64 = 60

    private let max: Int
    private var callers: [CredentialHash: PersonCaller] = [:]

    init(max: Int = 100_000) {
        self.max = max
    }

    var count: Int { callers.count }

    subscript(hash: CredentialHash) -> PersonCaller? { callers[hash] }

    mutating func add(_ caller: PersonCaller, at now: UnixMilliseconds) {
        if callers.count >= max { makeRoom(at: now) }
        callers[caller.hash] = caller
    }

    /// Forgets the tokens that have expired. While the people service is away they still count, and are checked again.
    mutating func forgetExpired(at now: UnixMilliseconds) {
        callers = callers.filter { $0.value.claims.exp + Self.leeway > now.seconds }
    }

    mutating func removeAll() {
        callers = [:]
    }

    /// Forgets the expired tokens. If that is not enough, also the oldest tenth, so that this is rarely necessary.
    private mutating func makeRoom(at now: UnixMilliseconds) {
        forgetExpired(at: now)
        let excess = callers.count - (max - Swift.max(1, max / 10))
        guard excess > 0 else { return }
        for (hash, _) in callers.sorted(by: { $0.value.claims.iat < $1.value.claims.iat }).prefix(excess) { callers[hash] = nil }
    }
}
