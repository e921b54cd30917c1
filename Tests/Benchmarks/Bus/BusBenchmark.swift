import Base
import Bus
import FoundationEssentials
import Glibc
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

    /// The medians of one line's runs.
    private struct Line: Encodable {
        /// Round trips a second.
        let rate: Double
        /// The CPU time of a round trip at both ends together, in microseconds.
        let processorTime: Double

        init(rate: Double, processorTime: Double) {
            self.rate = rate
            self.processorTime = processorTime
        }

        init(medianOf runs: [Line]) {
            self.init(rate: runs.map(\.rate).median, processorTime: runs.map(\.processorTime).median)
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
                + "(median of \(rounds) runs of \(Int(seconds)) s, in turns)")
        var runs: (raw: [Line], bytes: [Line], typed: [Line]) = ([], [], [])
        for round in 0..<rounds {
            runs.raw.append(try await measure { try await rawRate(frames, round) })
            runs.bytes.append(try await measure { try await bytesRate(round) })
            runs.typed.append(try await measure { try await typedRate(round) })
        }
        let (raw, bytes, typed) = (Line(medianOf: runs.raw), Line(medianOf: runs.bytes), Line(medianOf: runs.typed))
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

/// The CPU time of this process and of its ended children.
enum ProcessorTime {
    /// In seconds.
    static func now() -> Double {
        [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(__rusage_who_t(who.rawValue), &usage)
            return sum + seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
