import CommandBus
import FoundationEssentials
import JSON
import Schemas

/// Round trips over the command bus compared with libzmq's C API with the same frames: over `ipc`, between two processes, as
/// bytes and as a typed command that is encoded and decoded at both ends.
struct BusBenchmark {
    private static let inFlight = 256

    let scale: Scale
    let peers: String
    /// A folder for the sockets, with a short path.
    let folder: String

    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var seconds: Double { scale.pick(2, smoke: 0.2) }

    /// The best run of one line.
    private struct Line: Encodable {
        /// Round trips a second.
        var rate = 0.0
        /// The CPU time of a round trip at both ends together, in microseconds.
        var processorTime = 0.0

        mutating func keepBest(of other: Line) {
            if other.rate > rate { rate = other.rate }
            if processorTime == 0 || other.processorTime < processorTime { processorTime = other.processorTime }
        }
    }

    private struct Figures: Encodable {
        let benchmark = "bus"
        let inFlight: Int
        let raw: Line
        let bytes: Line
        let typed: Line
        let bytesRatio: Double
        let typedRatio: Double
    }

    func run() async throws {
        let frames = try BusSample.frames()
        say(
            "Command bus over ipc, client and server in a process each, \(Self.inFlight) in flight, payloads of "
                + "\(frames[1].utf8.count) and \(frames[3].utf8.count) bytes "
                + "(best of \(rounds) runs of \(Int(seconds)) s, in turns)")
        var (raw, bytes, typed) = (Line(), Line(), Line())
        for round in 0..<rounds {
            raw.keepBest(of: try await measure { try await rawRate(frames, round) })
            bytes.keepBest(of: try await measure { try await bytesRate(round) })
            typed.keepBest(of: try await measure { try await typedRate(round) })
        }
        let figures = Figures(
            inFlight: Self.inFlight, raw: raw, bytes: bytes, typed: typed, bytesRatio: (bytes.rate / raw.rate).twoDigits,
            typedRatio: (typed.rate / raw.rate).twoDigits)
        say(Table.row("", "a second", "ratio", "CPU us each"))
        for (name, line) in [("raw C", raw), ("bytes", bytes), ("typed", typed)] {
            say(Table.row(name, "\(Int(line.rate))", "\((line.rate / raw.rate).twoDigits)", "\(line.processorTime)"))
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ rate: () async throws -> (rate: Double, seconds: Double)) async throws -> Line {
        let start = ProcessorTime.now()
        let result = try await rate()
        let spent = ProcessorTime.now() - start
        return Line(
            rate: result.rate.rounded(), processorTime: (spent * 1_000_000 / (result.rate * result.seconds)).twoDigits)
    }

    private func rawRate(_ frames: [String], _ round: Int) async throws -> (rate: Double, seconds: Double) {
        let result = try await Peer(path: peers + "/raw_zeromq").run(
            ["ipc://\(folder)/raw\(round)", String(Self.inFlight), String(seconds)] + frames)
        return (result.count / result.seconds, result.seconds)
    }

    private func bytesRate(_ round: Int) async throws -> (rate: Double, seconds: Double) {
        let payload = try JSONCoder.encode(BusSample.relay)
        return try await rate("ipc://\(folder)/bytes\(round)") { client in
            _ = try await client.request(BusSample.bytesCommand, payload: payload)
        }
    }

    private func typedRate(_ round: Int) async throws -> (rate: Double, seconds: Double) {
        try await rate("ipc://\(folder)/typed\(round)") { client in
            _ = try await client.request(BusSample.relay)
        }
    }

    private func rate(
        _ endpoint: String, request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> (rate: Double, seconds: Double) {
        let rate = try await BusServer.serving(endpoint) {
            try await RoundTripRate.measure(
                endpoint, inFlight: Self.inFlight, seconds: seconds, request: request)
        }
        return (rate, seconds)
    }
}
