import TestSupport

/// A sink, a relay that sends to it, and the peer that sends without a relay.
struct RelayBench {
    let sink: Sink
    let relay: RunningRelay
    let raw: RawSender
    let message: RelayedMessage

    /// Sets everything up, warms it up, measures, and shuts it down.
    ///
    /// - Parameters:
    ///   - commandsInFlight: The number of concurrent commands of the warm-up.
    ///   - warmUp: The number of its commands.
    static func run<Figures>(
        _ speed: Sink.Speed, peers: String, commandsInFlight: Int = 1_000, warmUp: Int = 5_000,
        _ measure: (RelayBench) async throws -> Figures
    ) async throws -> Figures {
        try await withTemporaryFolder { folder in
            let message = try RelayedMessage(in: folder)
            let sink = try await Sink(speed, in: folder)
            do {
                let relay = try await RunningRelay(
                    at: sink.url, serviceAccountFile: try await message.writeServiceAccount(tokenURI: sink.url + "/token"),
                    certificateFile: sink.certificateFile, message: message, in: folder, peers: peers)
                do {
                    // The access token and the connections exist before the measurement.
                    if warmUp > 0 { _ = try await relay.drive(commands: warmUp, inFlight: commandsInFlight) }
                    let figures = try await measure(
                        RelayBench(
                            sink: sink, relay: relay, raw: RawSender(sink: sink, message: message, peers: peers),
                            message: message))
                    await relay.stop()
                    await sink.stop()
                    return figures
                } catch {
                    await relay.stop()
                    throw error
                }
            } catch {
                await sink.stop()
                throw error
            }
        }
    }
}
