/// The earliest moment that something has asked to be woken at, on any clock. Pure: its owner waits for the moment, and says when it
/// has come.
///
/// A later moment than the one that is set changes nothing: at the earlier one the owner looks again when to be woken next.
package struct Alarm<Moment: Comparable & Sendable>: Sendable {
    /// What is set and has not come; `nil` for nothing.
    package private(set) var moment: Moment?

    package init() {}

    /// Asks to be woken at a moment.
    ///
    /// - Returns: Whether the owner has to begin to wait for it. A wait for a later moment that it has begun goes on beside.
    package mutating func set(for new: Moment) -> Bool {
        if let moment, moment <= new { return false }
        moment = new
        return true
    }

    /// The wait for a moment has ended. By the wall's clock that may be a little early: then the alarm has to be set again.
    ///
    /// - Returns: Whether it was the moment that is set.
    @discardableResult
    package mutating func rang(_ rung: Moment) -> Bool {
        guard moment == rung else { return false }
        moment = nil
        return true
    }
}
