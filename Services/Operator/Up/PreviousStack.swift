import DurableFiles
import ServiceLifecycle

/// The services of an earlier `msi up` that was killed. They stop by themselves after a moment. Until then they hold their ports,
/// sockets and locks.
struct PreviousStack {
    /// Their log files.
    let logs: [LogFile]
    let say: @Sendable (String) -> Void

    /// Waits until they have ended.
    ///
    /// - Throws: ``StartFailure`` if they take longer than the timeout, `CancellationError` if this process is stopped.
    func end(within timeout: Duration) async throws {
        var running = stillRunning
        guard !running.isEmpty else { return }
        say("waiting for the services of an earlier msi up to stop: \(running.joined(separator: ", "))")
        let deadline = ContinuousClock.now + timeout
        while !running.isEmpty {
            guard ContinuousClock.now < deadline else {
                let holders = logs.filter { running.contains($0.name) }.flatMap { LockHolder.all(of: $0.path) }
                throw StartFailure(
                    description: "\(running.joined(separator: ", ")) of an earlier msi up did not stop within "
                        + "\(timeout.formatted); end that first, and start again"
                        + (holders.isEmpty ? "" : ": " + holders.map(\.description).joined(separator: "; ")))
            }
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(20)) }
            running = stillRunning
        }
    }

    private var stillRunning: [String] {
        logs.filter(\.isInUse).map(\.name)
    }
}
