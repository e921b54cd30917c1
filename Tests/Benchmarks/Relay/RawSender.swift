/// The C programme that sends what the relay sends with the same settings of libcurl, and nothing around it.
struct RawSender {
    let sink: Sink
    let message: RelayedMessage
    let peers: String

    /// As many as the connections carry, as the relay has them: ten of a hundred streams.
    static let inFlight = 1_000

    /// Sends as fast as it goes.
    ///
    /// - Returns: How many sends a second.
    func send(_ count: Int) async throws -> Double {
        let result = try await run(count, rate: 0)
        return result.count / result.seconds
    }

    /// Sends at a rate.
    ///
    /// - Returns: The milliseconds from the moment when a send was due to its answer: the median, and the 99th percentile.
    func latency(_ count: Int, rate: Double) async throws -> (p50: Double, p99: Double) {
        let result = try await run(count, rate: rate)
        return (result.count, result.seconds)
    }

    private func run(_ count: Int, rate: Double) async throws -> (count: Double, seconds: Double) {
        try await Peer(path: peers + "/raw_libcurl").run(
            [
                sink.url + RelayedMessage.path, sink.certificateFile, message.headersFile, String(Self.inFlight), String(count),
                String(rate),
            ] + message.bodyFiles)
    }
}
