/// The earliest requested wake-up time, on any clock. Pure: its owner waits for the time, and reports when it has come.
///
/// A request for a later time than the set one has no effect: at the earlier time the owner decides about the next wake-up.
package struct Alarm<Moment: Comparable & Sendable>: Sendable {
    /// The requested time, until it has come; `nil` for none.
    package private(set) var moment: Moment?

    package init() {}

    /// Requests a wake-up.
    ///
    /// - Returns: Whether the owner must start to wait for it. A wait for a later time continues.
    package mutating func set(for new: Moment) -> Bool {
        if let moment, moment <= new { return false }
        moment = new
        return true
    }

    /// A wait has ended. By the wall clock that may be a little early; then the owner sets the alarm again.
    ///
    /// - Returns: Whether it was the wait for the set time.
    @discardableResult
    package mutating func rang(_ rung: Moment) -> Bool {
        guard moment == rung else { return false }
        moment = nil
        return true
    }
}
