import Synchronization

/// What a service tells its manager about itself: whether it is ready, and the text that `systemctl status` shows (`STATUS` in
/// sd_notify(3)).
///
/// The manager keeps only the last text. So the self-check's findings and the settings are in one text, and no other comes once
/// the service stops.
final class ManagerStatus: Sendable {
    private enum Phase {
        case starting
        case ready(SettingsStatus)
        case stopping
    }

    private struct State {
        var phase = Phase.starting
        /// What the last self-check has found; `nil` for nothing.
        var trouble: String?

        /// The line with the text; none before the service is ready, and when it stops.
        var lines: [String] {
            guard case .ready(let settings) = phase else { return [] }
            return ["STATUS=\(settings.text(after: trouble))"]
        }
    }

    private let state = Mutex(State())
    private let notify: @Sendable (String) -> Void

    /// - Parameter notify: Sends a notification to the manager.
    init(notify: @escaping @Sendable (String) -> Void = ServiceManager.notify) {
        self.notify = notify
    }

    /// The service is ready, or ready again after it has read its settings.
    ///
    /// - Parameter report: What the reload has come to.
    func ready(_ settings: SettingsStatus, _ report: ReloadReport? = nil) {
        send { state in
            state.phase = .ready(settings)
            return ["READY=1"] + state.lines + (report.map { [$0.notification] } ?? [])
        }
    }

    /// The service reads its settings again.
    func reloading() {
        send { _ in ["RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)"] }
    }

    /// The service begins to stop.
    func stopping() {
        send { state in
            state.phase = .stopping
            return ["STOPPING=1", "STATUS=finishing what was accepted"]
        }
    }

    /// A self-check has ended.
    ///
    /// - Parameter trouble: What cannot be used; `nil` for nothing.
    func checked(isAlive: Bool, trouble: String?) {
        send { state in
            state.trouble = trouble
            return (isAlive ? ["WATCHDOG=1"] : []) + state.lines
        }
    }

    /// Sends under the lock, so that the manager gets the texts in the order of the changes.
    private func send(_ change: (inout State) -> [String]) {
        state.withLock { state in
            let lines = change(&state)
            if !lines.isEmpty { notify(lines.joined(separator: "\n")) }
        }
    }
}
