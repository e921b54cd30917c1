import Schemas

/// Knows whether a copy of the cube, or of a part of it, may still be used. Pure: what was heard, and when, in; yes or no out.
///
/// The cube service announces its version after each change and once a second. A copy is fresh while it is of the latest
/// version heard of and that was confirmed a moment ago; missed announcements only make it be asked for again.
struct CubeFreshness: Sendable {
    /// For how long a version counts as confirmed: two announcements may be missed.
    static let moment = Duration.milliseconds(2_500)

    /// The version that a copy has to have, and when it was heard of.
    private var latest: (version: CubeVersion, heard: ContinuousClock.Instant)?
    /// When the cube service said last that it is the latest.
    private var confirmed: ContinuousClock.Instant?

    /// The cube service announced its version.
    mutating func announced(_ version: CubeVersion, at now: ContinuousClock.Instant) {
        if version < latest?.version ?? 0 {
            // On its way for longer than a later one, or a cube that was set back: asking tells which.
            confirmed = nil
            return
        }
        latest = (version, now)
        confirmed = now
    }

    /// A change made through this gateway has been answered with the version that it made: its author must see it.
    mutating func edited(_ version: CubeVersion, at now: ContinuousClock.Instant) {
        if version > latest?.version ?? 0 { latest = (version, now) }
    }

    /// The cube or a part of it was read, or found unchanged.
    ///
    /// - Parameter asked: When it was asked for: what was heard of since then may not be in it.
    mutating func read(_ version: CubeVersion, asked: ContinuousClock.Instant) {
        if let latest, latest.heard > asked, latest.version > version { return }
        // Also where it is lower than what was heard before: a cube that was restored from a backup is the cube.
        latest = (version, asked)
        confirmed = confirmed.map { max($0, asked) } ?? asked
    }

    func isFresh(_ copy: CubeVersion, at now: ContinuousClock.Instant) -> Bool {
        guard let latest, let confirmed else { return false }
        return copy == latest.version && now - confirmed < Self.moment
    }
}
