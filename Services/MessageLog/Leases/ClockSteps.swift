import Schemas

/// Notices when the system clock is set back, by a clock that only goes forward. Pure.
struct ClockSteps {
    /// A clock that is brought into step gently is not set.
    private static let tolerance: Int64 = 1_000

    /// How far the system clock was ahead of the other one, in milliseconds.
    private var lead: Int64?

    /// - Parameters:
    ///   - wall: What the system clock says.
    ///   - uptime: What the other one says, in milliseconds.
    /// - Returns: Whether the system clock has been set back since this was last asked; `true` the first time, since it may have
    ///   been before.
    mutating func isSetBack(wall: UnixMilliseconds, uptime: Int64) -> Bool {
        let lead = wall - uptime
        defer { self.lead = lead }
        return self.lead.map { $0 - lead > Self.tolerance } ?? true
    }
}
