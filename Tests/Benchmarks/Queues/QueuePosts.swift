import TestSupport

/// The posts of a run to a server with HTTP. All servers get the same ones.
struct QueuePosts {
    let driver: GatewayDriver
    let subjects: [SubjectPath]

    /// Posts for some seconds.
    ///
    /// - Parameter wait: Waits until all messages are consumed; gets their number.
    func run(inFlight: Int, seconds: Double, _ wait: (Int) async throws -> Void) async throws -> QueueRun {
        let answers = try await driver.post(to: subjects, clients: inFlight, rate: nil, seconds: seconds)
        guard let first = answers.map(\.began).min(), let last = answers.map(\.answered).max() else {
            throw PeerFailure(description: "no message was accepted")
        }
        try await wait(answers.count)
        return QueueRun(
            messages: answers.count, acceptedSeconds: Double(last - first) / 1e9,
            seconds: Double(MonotonicClock.nanoseconds - first) / 1e9,
            answer: Latency(answers.map { Double($0.answered - $0.began) / 1e6 }))
    }
}
