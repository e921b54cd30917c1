/// Decides whether a copy of a service's data, or of a part of it, may still be used. Pure: events with their times in, yes or no
/// out.
///
/// The service announces its version after each change and once a second. A copy is fresh if it has the latest version that was
/// heard of, and that version was confirmed a moment ago. A missed announcement only makes the gateway ask again.
struct Freshness<Version: Comparable & Sendable>: Sendable {
    /// How long a version counts as confirmed: two announcements may be missed.
    static var moment: Duration { .milliseconds(2_500) }

    /// The version that a copy must have, and when it was heard of.
    private var latest: (version: Version, heard: ContinuousClock.Instant)?
    /// When the service last confirmed that this is the latest version.
    private var confirmed: ContinuousClock.Instant?

    /// The service announced its version.
    mutating func announced(_ version: Version, at now: ContinuousClock.Instant) {
        if let latest, version < latest.version {
            // A later announcement overtook this one, or the data was set back. Reading shows which.
            confirmed = nil
            return
        }
        latest = (version, now)
        confirmed = now
    }

    /// The service answered a change through this gateway with the version that the change made. Its author must see it.
    mutating func edited(_ version: Version, at now: ContinuousClock.Instant) {
        if let latest, version <= latest.version { return }
        latest = (version, now)
    }

    /// The data or a part of it was read, or found unchanged.
    ///
    /// - Parameter asked: When the request was sent. The reply need not contain what was heard of later.
    mutating func read(_ version: Version, asked: ContinuousClock.Instant) {
        if let latest, latest.heard > asked, latest.version > version { return }
        // The version may be lower than one heard of before: the data may have been restored from a backup.
        latest = (version, asked)
        confirmed = confirmed.map { max($0, asked) } ?? asked
    }

    func isFresh(_ copy: Version, at now: ContinuousClock.Instant) -> Bool {
        guard let latest, let confirmed else { return false }
        return copy == latest.version && now - confirmed < Self.moment
    }
}
