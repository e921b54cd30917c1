import Bus
import FoundationEssentials
import Base
import Logging
import Schemas
import ServiceKit

/// What the keys of the bus cost (CURVE): the same commands over tcp on the loopback interface, with keys and without them, in turns.
struct KeysBenchmark {
    private static let inFlight = 256

    let scale: Scale
    /// A folder for the keys.
    let folder: String

    private var rounds: Int { scale.pick(9, smoke: 1) }
    private var seconds: Double { scale.pick(2, smoke: 0.2) }

    /// One way to send commands.
    private struct Line: Encodable {
        /// Round trips a second with many in flight, in each round.
        var rates: [Double] = []
        /// The CPU time of one of them at both ends together, in microseconds.
        var processorTimes: [Double] = []
        /// The time of a round trip that is alone, in microseconds: the median of each round.
        var latencies: [Double] = []
    }

    private struct Figures: Encodable {
        let benchmark = "keys"
        let inFlight: Int
        let plain: Line
        let encrypted: Line
        /// Of the medians, with keys to without.
        let rateRatio: Double
        let processorTimeRatio: Double
        let latencyRatio: Double
    }

    func run() async throws {
        let keys = try BenchmarkKeys(makingIn: folder)
        let payload = try JSONCoder.encode(BusSample.relay)
        say(
            "Command bus over tcp on the loopback interface, client and server in a process each, payloads of \(payload.count) bytes, "
                + "with keys and without (medians of \(rounds) rounds of \(Int(seconds)) s, in turns)")
        var (plain, encrypted) = (Line(), Line())
        for _ in 0..<rounds {
            try await measure(&plain, keys: nil, payload)
            try await measure(&encrypted, keys: keys, payload)
        }
        let figures = Figures(
            inFlight: Self.inFlight, plain: plain, encrypted: encrypted,
            rateRatio: (encrypted.rates.median / plain.rates.median).twoDigits,
            processorTimeRatio: (encrypted.processorTimes.median / plain.processorTimes.median).twoDigits,
            latencyRatio: (encrypted.latencies.median / plain.latencies.median).twoDigits)
        say(Table.row("", "a second", "CPU us each", "alone us"))
        for (name, line) in [("plain", plain), ("keys", encrypted)] {
            say(
                Table.row(
                    name, "\(Int(line.rates.median))", "\(line.processorTimes.median.twoDigits)",
                    "\(line.latencies.median.twoDigits)"))
        }
        say(Table.row("ratio", "\(figures.rateRatio)", "\(figures.processorTimeRatio)", "\(figures.latencyRatio)"))
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ line: inout Line, keys: BenchmarkKeys?, _ payload: Data) async throws {
        let security = try keys?.security ?? .loopbackOnly
        let request: nonisolated(nonsending) @Sendable (CommandClient) async throws -> Void = { client in
            _ = try await client.request(BusSample.bytesCommand, payload: payload)
        }
        let start = ProcessorTime.now()
        let manyAt = "tcp://127.0.0.1:\(try LoopbackPort.free())"
        let rate = try await BusServer.serving(manyAt, keys: keys) {
            try await RoundTripRate.measure(
                manyAt, security: security, inFlight: Self.inFlight, seconds: seconds, request: request)
        }
        line.rates.append(rate.rounded())
        line.processorTimes.append(((ProcessorTime.now() - start) * 1_000_000 / (rate * seconds)).twoDigits)
        let aloneAt = "tcp://127.0.0.1:\(try LoopbackPort.free())"
        let times = try await BusServer.serving(aloneAt, keys: keys) {
            try await RoundTripRate.times(aloneAt, security: security, seconds: seconds, request: request)
        }
        line.latencies.append((times.median * 1_000_000).twoDigits)
    }
}

/// The key of this machine in a file, and the list of its peers.
struct BenchmarkKeys: Sendable {
    private let folder: String

    private var keyFile: String { folder + "/bus.key" }
    private var peersFile: String { folder + "/bus.peers" }

    /// - Parameter folder: A folder with these files.
    init(in folder: String) {
        self.folder = folder
    }

    /// Makes a key.
    init(makingIn folder: String) throws {
        self.init(in: folder)
        let keys = try BusKeyPair.make()
        try Data("127.0.0.1 \(keys.publicKey)\n".utf8).write(to: URL(filePath: peersFile))
        try Data(keys.secret.utf8).write(to: URL(filePath: keyFile))
    }

    var path: String { folder }

    var security: BusSecurity {
        get throws {
            guard let keys = BusKeyPair(secret: try String(contentsOfFile: keyFile, encoding: .utf8)) else {
                throw PeerFailure(description: "\(keyFile) has no key")
            }
            return try .encrypted(with: keys, peersFile: peersFile, logger: Logger(label: "benchmark"))
        }
    }
}
