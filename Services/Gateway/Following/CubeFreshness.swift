import Schemas

/// Decides whether a copy of the cube, or of a part of it, is still fresh. Pure.
///
/// The cube service announces its version after each change and once a second. A copy is fresh if it has the latest known version
/// and that version was confirmed recently. Missed announcements only cause another read.
struct CubeFreshness: Sendable {
    /// How long a version counts as confirmed. Two announcements may be missed.
    static let moment = Duration.milliseconds(2_500)

    /// The latest known version, and when it was learned.
    private var latest: (version: CubeVersion, heard: ContinuousClock.Instant)?
    /// When the cube service last confirmed it.
    private var confirmed: ContinuousClock.Instant?

    /// The cube service announced its version.
    mutating func announced(_ version: CubeVersion, at now: ContinuousClock.Instant) {
        if version < latest?.version ?? 0 {
            // A late announcement, or a cube that was restored from a backup. The next read shows which.
            confirmed = nil
            return
        }
        latest = (version, now)
        confirmed = now
    }

    /// A change through this gateway has made a version. Its author must see it.
    mutating func edited(_ version: CubeVersion, at now: ContinuousClock.Instant) {
        if version > latest?.version ?? 0 { latest = (version, now) }
    }

    /// The cube or a part of it was read or found unchanged.
    ///
    /// - Parameter asked: When it was requested. Later changes may not be in it.
    mutating func read(_ version: CubeVersion, asked: ContinuousClock.Instant) {
        if let latest, latest.heard > asked, latest.version > version { return }
        // Even if it is lower than an earlier one: a cube may be restored from a backup.
        latest = (version, asked)
        confirmed = confirmed.map { max($0, asked) } ?? asked
    }

    func isFresh(_ copy: CubeVersion, at now: ContinuousClock.Instant) -> Bool {
        guard let latest, let confirmed else { return false }
        return copy == latest.version && now - confirmed < Self.moment
    }
}
