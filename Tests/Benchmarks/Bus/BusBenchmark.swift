import CommandBus
import FoundationEssentials
import Schemas

/// Round trips over the command bus beside those of libzmq's C API with the same frames: over `ipc`, a client and a server in
/// two processes, as bytes and as a typed command that is coded at both ends.
struct BusBenchmark {
    private static let rounds = 5
    private static let seconds = 2.0
    private static let inFlight = 256

    let peers: String
    /// A folder for the sockets, with a short path.
    let folder: String

    private struct Figures: Encodable {
        let benchmark = "bus"
        let inFlight: Int
        let bytes: Double
        let typed: Double
        let raw: Double
        let bytesRatio: Double
        let typedRatio: Double
    }

    func run() async throws {
        let frames = try BusSample.frames()
        say(
            "Command bus over ipc, round trips a second, client and server in a process each, \(Self.inFlight) in flight, "
                + "payloads of \(frames[1].utf8.count) and \(frames[3].utf8.count) bytes "
                + "(best of \(Self.rounds) runs of \(Int(Self.seconds)) s, in turns)")
        var best = (bytes: 0.0, typed: 0.0, raw: 0.0)
        for round in 0..<Self.rounds {
            best.raw = max(best.raw, try await raw(frames, round))
            best.bytes = max(best.bytes, try await bytes(round))
            best.typed = max(best.typed, try await typed(round))
        }
        let figures = Figures(
            inFlight: Self.inFlight, bytes: best.bytes.rounded(), typed: best.typed.rounded(), raw: best.raw.rounded(),
            bytesRatio: (best.bytes / best.raw).twoDigits, typedRatio: (best.typed / best.raw).twoDigits)
        say(Table.row("", "a second", "ratio"))
        say(Table.row("raw C", "\(Int(figures.raw))", "1"))
        say(Table.row("bytes", "\(Int(figures.bytes))", "\(figures.bytesRatio)"))
        say(Table.row("typed", "\(Int(figures.typed))", "\(figures.typedRatio)"))
        say(String(decoding: try SchemaJSON.encode(figures), as: UTF8.self))
    }

    private func raw(_ frames: [String], _ round: Int) async throws -> Double {
        let result = try await Peer(path: peers + "/raw_zeromq").run(
            ["ipc://\(folder)/raw\(round)", String(Self.inFlight), String(Self.seconds)] + frames)
        return result.count / result.seconds
    }

    private func bytes(_ round: Int) async throws -> Double {
        let payload = try SchemaJSON.encode(BusSample.relay)
        return try await rate("ipc://\(folder)/bytes\(round)") { client in
            _ = try await client.request(BusSample.bytesCommand, payload: payload)
        }
    }

    private func typed(_ round: Int) async throws -> Double {
        try await rate("ipc://\(folder)/typed\(round)") { client in
            _ = try await client.request(BusSample.relay)
        }
    }

    private func rate(
        _ endpoint: String, request: @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> Double {
        try await BusServer.serving(endpoint) {
            try await RoundTripRate.measure(
                endpoint, inFlight: Self.inFlight, seconds: Self.seconds, request: request)
        }
    }
}
