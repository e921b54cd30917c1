/// The C program that sends the same requests as the relay with the same settings of libcurl, and nothing else.
struct RawSender {
    let sink: Sink
    let message: RelayedMessage
    let peers: String

    /// The number that the relay's connections carry: ten connections with a hundred streams.
    static let inFlight = 1_000

    /// Sends as fast as possible.
    ///
    /// - Parameter bodies: The files with the requests' bodies; by default those of the message.
    /// - Returns: The sends a second.
    func send(_ count: Int, bodies: [String]? = nil) async throws -> Double {
        let result = try await run(count, rate: 0, bodies)
        return result.count / result.seconds
    }

    /// Sends at a rate.
    ///
    /// - Returns: The median and the 99th percentile of the milliseconds from a send's due time to its answer.
    func latency(_ count: Int, rate: Double) async throws -> (p50: Double, p99: Double) {
        let result = try await run(count, rate: rate)
        return (result.count, result.seconds)
    }

    private func run(_ count: Int, rate: Double, _ bodies: [String]? = nil) async throws -> (count: Double, seconds: Double) {
        try await Peer(path: peers + "/raw_libcurl").run(
            [
                sink.url + RelayedMessage.path, sink.certificateFile, message.headersFile, String(Self.inFlight), String(count),
                String(rate),
            ] + (bodies ?? message.bodyFiles))
    }
}
