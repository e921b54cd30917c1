import Base
import Crypto
import FoundationEssentials
import Schemas

/// Which devices have ended, and which keys sign tokens, as far as the people service has told. Pure.
///
/// The people service numbers the ends of devices. It announces the latest ones after each end and once a second. It counts as reachable for
/// ``onlineTime`` after it has last confirmed that no end is missing here.
struct DeviceEnds: Sendable {
    static let onlineTime: Duration = .seconds(10)

    /// The number of the latest end that is known.
    private(set) var applied: Int64 = 0
    private(set) var keys: [DeviceTokenKey] = []
    /// The keys by their `kid`.
    private(set) var publicKeys: [String: P256.Signing.PublicKey] = [:]
    /// Grows with each change of the keys.
    private(set) var keysRevision = 0
    private var ofDevices: [ObjectID: EndedTokens] = [:]
    private var ofAccounts: [AccountName: EndedTokens] = [:]
    /// The latest announced number, and when it was heard.
    private var announced: (sequence: Int64, heard: ContinuousClock.Instant)?
    /// When the service last confirmed that no end is missing.
    private(set) var confirmed: ContinuousClock.Instant?
    /// The time of the last failed attempt to read the ends.
    private var tried: ContinuousClock.Instant?

    var count: Int { ofDevices.count + ofAccounts.count }

    /// All ends, in the order of their numbers.
    var all: [EndedTokens] {
        (Array(ofDevices.values) + Array(ofAccounts.values)).sorted { $0.number < $1.number }
    }

    func hasEnded(_ claims: DeviceTokenClaims) -> Bool {
        ofDevices[claims.dev]?.ends(claims) == true || ofAccounts[claims.sub]?.ends(claims) == true
    }

    /// Whether the people service has been heard a short time ago.
    func isOnline(at now: ContinuousClock.Instant) -> Bool {
        confirmed.map { now - $0 < Self.onlineTime } ?? false
    }

    /// Whether ends may be missing: an announced one, or those of a silence.
    func mustRead(at now: ContinuousClock.Instant, silence: Duration) -> Bool {
        guard hasAll, let confirmed else { return true }
        return now - confirmed > silence
    }

    /// Whether a request waits for a confirmation before it uses a token: at the start, once after each silence, in which this process may
    /// have been frozen, and once after each announcement of ends that are missing.
    func mustConfirm(at now: ContinuousClock.Instant) -> Bool {
        guard let latest = [confirmed, tried].compactMap(\.self).max() else { return true }
        if now - latest > CredentialCache.silence { return true }
        return !hasAll && announced.map { latest < $0.heard } ?? false
    }

    private var hasAll: Bool { announced.map { $0.sequence <= applied } ?? true }

    // MARK: Changes

    /// The service announced its latest ends.
    ///
    /// - Returns: What is new, and whether the ends must be read.
    mutating func announced(_ changes: DevicesChanged, at now: ContinuousClock.Instant) -> (news: DeviceNews, mustRead: Bool) {
        // After a silence this may be an old event that waited in the process's socket, with keys that count no longer.
        let wasSilent = confirmed.map { now - $0 > CredentialCache.silence } ?? true
        announced = (changes.sequence, now)
        var news = DeviceNews()
        if changes.after <= applied { apply(changes, &news) }
        guard hasAll, !wasSilent else { return (news, true) }
        use(changes.keys, &news)
        confirmed = now
        return (news, false)
    }

    /// The service answered with the ends after ``applied``.
    ///
    /// - Parameter asked: When it was asked.
    mutating func read(_ changes: DevicesChanged, asked: ContinuousClock.Instant) -> DeviceNews {
        var news = DeviceNews()
        apply(changes, &news)
        use(changes.keys, &news)
        guard changes.more != true else { return news }
        // The announced ends that are not in the answer were too old for it.
        if let announced, announced.heard <= asked { applied = max(applied, announced.sequence) }
        confirmed = confirmed.map { max($0, asked) } ?? asked
        return news
    }

    /// The ends could not be read.
    mutating func couldNotConfirm(at now: ContinuousClock.Instant) {
        tried = now
    }

    /// A device was ended through this gateway, whose number is not known yet.
    mutating func end(_ end: EndedTokens) {
        add(end)
    }

    /// Takes over the ends and keys of an earlier process.
    mutating func restore(_ kept: KeptEnds) {
        for end in kept.ended { add(end) }
        applied = max(applied, kept.applied)
        var news = DeviceNews()
        use(kept.keys, &news)
    }

    /// Forgets the ends by which every token that they concern is too old.
    mutating func forgetOld(at now: UnixMilliseconds) {
        ofDevices = ofDevices.filter { now - $0.value.at < PersonLimits.endedTime }
        ofAccounts = ofAccounts.filter { now - $0.value.at < PersonLimits.endedTime }
    }

    private mutating func apply(_ changes: DevicesChanged, _ news: inout DeviceNews) {
        for end in changes.ended where end.number > applied {
            add(end)
            news.ended.append(end)
        }
        applied = max(applied, changes.sequence)
    }

    private mutating func add(_ end: EndedTokens) {
        if let device = end.device, ofDevices[device].map({ $0.at < end.at }) ?? true { ofDevices[device] = end }
        if let account = end.account, ofAccounts[account].map({ $0.at < end.at }) ?? true { ofAccounts[account] = end }
    }

    private mutating func use(_ others: [DeviceTokenKey], _ news: inout DeviceNews) {
        guard others != keys else { return }
        news.hasOtherKeys = true
        news.hasFewerKeys = !Set(keys).isSubset(of: others)
        keys = others
        keysRevision += 1
        publicKeys = [:]
        for key in others {
            publicKeys[key.id] = Data(base64URL: key.key).flatMap { try? P256.Signing.PublicKey(x963Representation: $0) }
        }
    }
}

/// What the people service has told about the tokens of devices.
struct DeviceNews: Sendable {
    var ended: [EndedTokens] = []
    var hasOtherKeys = false
    /// Whether the tokens of a key count no longer.
    var hasFewerKeys = false
}

/// The ends and keys of an earlier process.
struct KeptEnds: Hashable, Sendable {
    let applied: Int64
    let keys: [DeviceTokenKey]
    let ended: [EndedTokens]
}
