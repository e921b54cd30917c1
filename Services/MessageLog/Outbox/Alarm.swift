import Schemas

/// A one-shot timer. Setting a later time than the current one has no effect, since the callback sets the next one.
struct Alarm {
    /// The time that is set and not yet reached.
    private var moment: UnixMilliseconds?

    /// - Parameter ring: Called once, and not before that time unless the clock is set back. It must call ``rang(_:)``.
    mutating func set(for new: UnixMilliseconds, at now: UnixMilliseconds, _ ring: @escaping @Sendable () -> Void) {
        if let moment, moment <= new { return }
        moment = new
        Task {
            try await Task.sleep(for: .milliseconds(max(0, new - now)))
            ring()
        }
    }

    /// The alarm has gone off. By the wall clock this may be a little early; then the caller sets it again.
    mutating func rang(_ rung: UnixMilliseconds) {
        if moment == rung { moment = nil }
    }
}
