import ServiceLifecycle

/// The services of an earlier `msi up` that was killed: they stop by themselves, which takes a moment, and until then they have
/// their ports, sockets and locks.
struct FormerStack {
    /// Where they write to.
    let logs: [LogFile]
    let say: @Sendable (String) -> Void

    /// Waits until they have ended.
    ///
    /// - Throws: ``StartFailure`` when they take longer than a service may, `CancellationError` when this process is told to stop.
    func end(within timeout: Duration) async throws {
        var running = stillRunning
        guard !running.isEmpty else { return }
        say("waiting for the services of an earlier msi up to stop: \(running.joined(separator: ", "))")
        let deadline = ContinuousClock.now + timeout
        while !running.isEmpty {
            guard ContinuousClock.now < deadline else {
                throw StartFailure(
                    description: "\(running.joined(separator: ", ")) of an earlier msi up did not stop within "
                        + "\(timeout.formatted); end that first, and start again")
            }
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(20)) }
            running = stillRunning
        }
    }

    private var stillRunning: [String] {
        logs.filter(\.isInUse).map(\.name)
    }
}
