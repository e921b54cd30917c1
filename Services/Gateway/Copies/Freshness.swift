/// Decides whether a copy of a service's data, or of a part of it, is still fresh. Pure.
///
/// The service announces its version after each change and once a second. A copy is fresh if it has the latest known version and
/// that version was confirmed recently. Missed announcements only cause another read.
struct Freshness<Version: Comparable & Sendable>: Sendable {
    /// How long a version counts as confirmed. Two announcements may be missed.
    static var confirmationTimeout: Duration { .milliseconds(2_500) }

    /// The latest known version, and when it was learned.
    private var latest: (version: Version, heard: ContinuousClock.Instant)?
    /// When the service last confirmed it.
    private var confirmed: ContinuousClock.Instant?

    /// The latest known version.
    var latestVersion: Version? { latest?.version }

    /// The service announced its version.
    ///
    /// - Parameter byEdit: Whether the event tells the edit that has made the version. Such an event comes once, and may come after that
    ///   of a later edit.
    mutating func announced(_ version: Version, byEdit: Bool = false, at now: ContinuousClock.Instant) {
        if let latest, version < latest.version {
            // A late announcement, or data that was restored from a backup. The next read shows which.
            if !byEdit { confirmed = nil }
            return
        }
        latest = (version, now)
        confirmed = now
    }

    /// A change through this gateway has made a version. Its author must see it.
    mutating func edited(_ version: Version, at now: ContinuousClock.Instant) {
        if let latest, version <= latest.version { return }
        latest = (version, now)
    }

    /// The data or a part of it was read or found unchanged.
    ///
    /// - Parameter asked: When it was requested. Later changes may not be in it.
    mutating func read(_ version: Version, asked: ContinuousClock.Instant) {
        if let latest, latest.heard > asked, latest.version > version { return }
        // Even if it is lower than an earlier one: the data may be restored from a backup.
        latest = (version, asked)
        confirmed = confirmed.map { max($0, asked) } ?? asked
    }

    /// - Parameter wanted: The latest known version when the copy was asked for. Later changes may be missing in the copy: while there
    ///   are many, it would never have all.
    func isFresh(_ copy: Version, asOf wanted: Version? = nil, at now: ContinuousClock.Instant) -> Bool {
        guard let latest, let confirmed, now - confirmed < Self.confirmationTimeout else { return false }
        return copy == latest.version || wanted.map { $0 <= copy && copy < latest.version } ?? false
    }

    /// When the service last confirmed the version of a copy; `nil` if another version is known.
    func confirmation(of copy: Version) -> ContinuousClock.Instant? {
        copy == latest?.version ? confirmed : nil
    }
}
