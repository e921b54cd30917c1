import Schemas
import Base

/// Decides which copies of credentials may be used. Pure.
///
/// The people service counts the changes of credentials. It announces the latest ones after each change and once a second. A copy is
/// usable until the grace period after the service last confirmed that the copies contain all changes. A change concerns only the
/// copies that it names.
struct CredentialCache: Sendable {
    /// How long a negative answer counts.
    static let unknownTimeout: Duration = .seconds(1)
    /// After this time without a confirmation the next request waits for one, since this process may have been frozen.
    static let silence: Duration = .milliseconds(1_500)
    /// After a longer time without a confirmation the credentials are listed again. In that time the service's data may have been
    /// restored from a backup and changed up to the same number. Then the numbered changes do not show what is different.
    static let listSilence: Duration = .seconds(10)
    static let maxCopies = 100_000
    /// How long an end is remembered. By then a sign-in has expired. The end of a token was stored by the people service before it
    /// was announced.
    static let endMemory: Milliseconds = PeopleLimits.maxSignInDuration + .seconds(3_600)

    enum Lookup: Hashable {
        case known(Credential)
        /// The credential has ended, or there was none a moment ago.
        case unknown
        /// The people service must be asked.
        case ask
    }

    private let grace: Duration
    private let maxUnknown: Int
    private let maxEnded: Int
    private(set) var copies: [CredentialHash: Credential] = [:]
    private var unknown: [CredentialHash: ContinuousClock.Instant] = [:]
    /// Credentials that have ended for good, and when.
    private(set) var ended: [CredentialHash: UnixMilliseconds] = [:]
    /// The number of changes that the copies contain; `nil` before the first answer of the service.
    private(set) var applied: Int64?
    /// The latest announced number, and when it was heard.
    private var announced: (sequence: Int64, heard: ContinuousClock.Instant)?
    /// When the service last confirmed that ``applied`` is the latest number.
    private(set) var confirmed: ContinuousClock.Instant?
    /// The time of the last failed attempt to read the changes.
    private var tried: ContinuousClock.Instant?
    /// The latest changes through this gateway.
    private var ownChanges = OwnCredentialChanges()
    /// How often all copies were dropped or became doubtful. After each time the credentials must be listed.
    private(set) var generation = 0
    private var listed: Int?
    /// The copies that became doubtful and that no answer has contained since.
    private var doubtful: Set<CredentialHash> = []
    /// Grows with each change of the copies and of the ended credentials.
    private(set) var revision = 0

    /// - Parameters:
    ///   - grace: How long the copies may be used while the service is silent.
    ///   - maxUnknown: The maximum number of kept negative answers.
    ///   - maxEnded: The maximum number of remembered ends.
    init(grace: Duration, maxUnknown: Int = 10_000, maxEnded: Int = 100_000) {
        self.grace = grace
        self.maxUnknown = maxUnknown
        self.maxEnded = maxEnded
    }

    func find(_ hash: CredentialHash, at now: ContinuousClock.Instant, wall: UnixMilliseconds) -> Lookup {
        if isUsable(at: now), !mustConfirm(at: now), let copy = copies[hash], copy.isValid(at: wall) { return .known(copy) }
        if hasEnded(hash) { return .unknown }
        if let asked = unknown[hash], now - asked < Self.unknownTimeout { return .unknown }
        return .ask
    }

    /// Until when the copies may be used if the service stays silent; `nil` if they may not be used.
    func usableUntil(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        isUsable(at: now) ? confirmed?.advanced(by: grace) : nil
    }

    private func isUsable(at now: ContinuousClock.Instant) -> Bool {
        confirmed.map { now - $0 < grace } ?? false
    }

    /// Whether the copies lack an announced change, or the service has been silent for a while.
    func mustReadChanges(at now: ContinuousClock.Instant, silence: Duration) -> Bool {
        guard let confirmed else { return false }
        return !hasAllChanges || now - confirmed > silence
    }

    /// Whether a request waits for a confirmation before it uses a copy: once after each silence, and once after each announcement
    /// of changes that the copies do not contain.
    func mustConfirm(at now: ContinuousClock.Instant) -> Bool {
        guard let confirmed else { return false }
        let latest = max(confirmed, tried ?? confirmed)
        if now - latest > Self.silence { return true }
        return !hasAllChanges && announced.map { latest < $0.heard } ?? false
    }

    /// The changes could not be read.
    mutating func couldNotConfirm(at now: ContinuousClock.Instant) {
        tried = now
    }

    private var hasAllChanges: Bool { announced.map { $0.sequence == applied } ?? true }
}

// MARK: - Changes

extension CredentialCache {
    /// The service announced its latest changes.
    ///
    /// - Returns: The credentials to request, which are changed or new, and whether the changes must be read.
    mutating func announced(
        _ changes: PeopleChanged, at now: ContinuousClock.Instant
    ) -> (changed: [CredentialHash], mustRead: Bool) {
        // After a silence this may be an old event that waited in the process's socket.
        let wasSilent = confirmed.map { now - $0 > Self.silence } ?? false
        announced = (changes.sequence, now)
        let known = applied ?? changes.sequence
        applied = known
        var changed: [CredentialHash] = []
        if known < changes.sequence, changes.after <= known, changes.all != true { changed = apply(changes, behind: known) }
        guard applied == changes.sequence, !wasSilent else { return (changed, true) }
        confirmed = now
        return (changed, false)
    }

    /// The service answered with its changes.
    ///
    /// - Parameters:
    ///   - after: The number that it was asked with. Only an answer for ``applied`` changes the copies.
    ///   - asked: When it was asked.
    /// - Returns: The credentials to request, which are changed or new.
    @discardableResult
    mutating func read(_ changes: PeopleChanged, after: Int64, asked: ContinuousClock.Instant) -> [CredentialHash] {
        let changed = after == applied ? apply(changes, behind: after) : []
        // Of two answers about the same changes, the second one shows only that there are no further ones.
        guard changes.sequence == applied else { return changed }
        // A lower number than an earlier one: the service's data was restored.
        if let heard = announced?.heard, heard <= asked { announced = (changes.sequence, asked) }
        confirm(at: asked)
        return changed
    }

    /// The copies contained all changes when the service was asked.
    private mutating func confirm(at asked: ContinuousClock.Instant) {
        if let confirmed, asked - confirmed > Self.listSilence {
            doubtful = Set(copies.keys)
            generation += 1
        }
        confirmed = confirmed.map { max($0, asked) } ?? asked
    }

    private mutating func apply(_ changes: PeopleChanged, behind known: Int64) -> [CredentialHash] {
        applied = changes.sequence
        revision += 1
        guard changes.all != true else {
            copies = [:]
            unknown = [:]
            generation += 1
            return []
        }
        var changed: Set<CredentialHash> = []
        for (change, number) in zip(changes.changes, (changes.after + 1)...) where number > known {
            var hashes = change.credential.map { [$0] } ?? []
            if let account = change.account { hashes += copies.filter { $0.value.account == account }.keys }
            for hash in hashes where copies[hash].map({ $0.sequence < number }) ?? true {
                drop(hash, ended: change.ended == true)
                if change.ended == true { changed.remove(hash) } else { changed.insert(hash) }
            }
        }
        return Array(changed)
    }

    private mutating func drop(_ hash: CredentialHash, ended hasEnded: Bool) {
        revision += 1
        copies[hash] = nil
        unknown[hash] = nil
        guard hasEnded else { return }
        if ended.count >= maxEnded { makeRoomForEnd() }
        ended[hash] = .now
    }

    /// Whether a credential is known to have ended for good.
    func hasEnded(_ hash: CredentialHash) -> Bool { ended[hash] != nil }

    /// Forgets the ends that are older than ``endMemory``.
    mutating func forgetOldEnds(at now: UnixMilliseconds) {
        ended = ended.filter { now - $0.value < Self.endMemory }
    }

    /// If there are too many ends, forgets the oldest tenth, so that this is rarely necessary.
    private mutating func makeRoomForEnd() {
        forgetOldEnds(at: .now)
        let excess = ended.count - (maxEnded - max(1, maxEnded / 10))
        guard excess > 0 else { return }
        for (hash, _) in ended.sorted(by: { $0.value < $1.value }).prefix(excess) { ended[hash] = nil }
    }

    /// The credentials that a change through this gateway concerns, as far as there are copies.
    func hashes(of target: CredentialTarget) -> [CredentialHash] {
        if case .credential(let hash) = target { return [hash] }
        return copies.filter { target.contains($0.value, $0.key) }.map(\.key)
    }

    /// A change through this gateway was made. Answers about these credentials that were requested before it are not kept.
    ///
    /// - Parameter ended: Those that it has ended for good.
    /// - Returns: The credentials to request.
    mutating func changed(
        _ target: CredentialTarget, ended: [CredentialHash], at now: ContinuousClock.Instant
    ) -> [CredentialHash] {
        ownChanges.add(target, at: now)
        for hash in ended { drop(hash, ended: true) }
        let others = hashes(of: target).filter { copies[$0] != nil }
        for hash in others { drop(hash, ended: false) }
        return others
    }

    /// A sign-out ended a credential. It counts at this gateway even before the service has confirmed it.
    mutating func end(_ hash: CredentialHash) {
        drop(hash, ended: true)
    }
}

// MARK: - Answers

extension CredentialCache {
    /// The service found a credential.
    ///
    /// - Returns: Whether the answer contains all changes that this gateway has heard of. If not, the service must be asked again.
    mutating func add(_ credential: Credential, for hash: CredentialHash, asked: ContinuousClock.Instant) -> Bool {
        if applied == nil { applied = credential.sequence }
        guard let applied, credential.sequence >= applied, !ownChanges.contain(credential, hash, after: asked) else {
            return false
        }
        if credential.sequence == applied, hasAllChanges { confirm(at: asked) }
        unknown[hash] = nil
        let isDoubtful = doubtful.remove(hash) != nil
        // A later answer may already be here. The number of a doubtful copy is meaningless.
        guard !hasEnded(hash), isDoubtful || copies[hash].map({ $0.sequence <= credential.sequence }) ?? true else { return true }
        if copies.count >= Self.maxCopies { removeExpired() }
        guard copies.count < Self.maxCopies else { return true }
        copies[hash] = credential
        revision += 1
        return true
    }

    private mutating func removeExpired() {
        let now = UnixMilliseconds.now
        copies = copies.filter { $0.value.isValid(at: now) }
    }

    /// The service has no such credential.
    mutating func addUnknown(_ hash: CredentialHash, at now: ContinuousClock.Instant) {
        copies[hash] = nil
        if unknown.count >= maxUnknown { unknown = unknown.filter { now - $0.value < Self.unknownTimeout } }
        if unknown.count < maxUnknown { unknown[hash] = now }
    }

    /// A request used a credential. ``CredentialUses`` reports it to the service later.
    mutating func used(_ hash: CredentialHash, at moment: UnixMilliseconds) {
        copies[hash] = copies[hash]?.used(at: moment)
    }

    /// Takes over the copies of an earlier process. They are usable until the grace period after their last confirmation.
    mutating func restore(_ kept: KeptCredentials, confirmed: ContinuousClock.Instant) {
        guard applied == nil else { return }
        applied = kept.sequence
        self.confirmed = confirmed
        for end in kept.ended { ended[end.hash] = end.at }
        for entry in kept.credentials { copies[entry.hash] = entry.credential }
        doubtful = Set(copies.keys)
    }

    /// Whether all valid credentials must be listed.
    var mustList: Bool { listed != generation }

    /// All valid credentials were listed. Doubtful copies that the list does not contain are dropped.
    ///
    /// - Parameter generation: When the listing began.
    mutating func listed(in generation: Int) {
        listed = generation
        guard generation == self.generation else { return }
        for hash in doubtful where copies.removeValue(forKey: hash) != nil { revision += 1 }
        doubtful = []
    }
}
