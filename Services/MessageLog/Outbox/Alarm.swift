import Schemas

/// Calls back at a moment, once; a later moment than the one that is set already changes nothing, since whoever is called asks
/// anew when to be called next.
struct Alarm {
    /// What is set, and has not rung.
    private var moment: UnixMilliseconds?

    /// - Parameter ring: Called once, not before that moment unless the clock is set back meanwhile; ends in ``rang(_:)``.
    mutating func set(for new: UnixMilliseconds, at now: UnixMilliseconds, _ ring: @escaping @Sendable () -> Void) {
        if let moment, moment <= new { return }
        moment = new
        Task {
            try await Task.sleep(for: .milliseconds(max(0, new - now)))
            ring()
        }
    }

    /// It has rung for a moment. By the wall's clock that may be a little early: then it has to be set again.
    mutating func rang(_ rung: UnixMilliseconds) {
        if moment == rung { moment = nil }
    }
}
