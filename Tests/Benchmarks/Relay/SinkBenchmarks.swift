import FoundationEssentials
import Base
import Schemas

/// The relay compared with a C program, on a sink that answers at once.
struct ThroughputBenchmark {
    private static let rounds = 5
    private static let commands = 40_000
    /// FCM's default quota: 600,000 messages a minute.
    private static let quota = 10_000.0

    let peers: String

    private struct Figures: Encodable {
        let benchmark = "relay"
        let relay: Double
        let raw: Double
        let ratio: Double
        let timesQuota: Double
        /// Microseconds for each send.
        let processorTime: Double
        let rawProcessorTime: Double
        /// The number of the relay's connections.
        let connections: Int
    }

    func run() async throws {
        say("sends a second to a sink that answers at once (median of \(Self.rounds) runs, in turns)")
        let figures = try await RelayBench.run(.immediate, peers: peers) { bench in
            var (relay, raw, times, rawTimes): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
            var connections = 0
            let sends = Self.commands * RunningRelay.sendsOfCommand
            say(Table.row("relay", "raw libcurl", "ratio", "relay's µs", "raw µs of processor time a send"))
            for _ in 0..<Self.rounds {
                let (rate, time) = try await bench.relay.drive(commands: Self.commands)
                connections = max(connections, try Connections.count(on: bench.sink.port))
                relay.append(rate)
                times.append(time)
                let before = ProcessorTime.now()
                let rawRate = try await bench.raw.send(sends)
                let rawTime = (ProcessorTime.now() - before) / Double(sends) * 1e6
                raw.append(rawRate)
                rawTimes.append(rawTime)
                say(
                    Table.row(
                        "\(Int(rate))", "\(Int(rawRate))", "\((rate / rawRate).twoDigits)", "\(time.twoDigits)",
                        "\(rawTime.twoDigits)"))
            }
            let (rate, rawRate) = (relay.median, raw.median)
            return Figures(
                relay: rate.rounded(), raw: rawRate.rounded(), ratio: (rate / rawRate).twoDigits,
                timesQuota: (rate / Self.quota).twoDigits, processorTime: times.median.twoDigits,
                rawProcessorTime: rawTimes.median.twoDigits, connections: connections)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }
}

/// The relay compared with h2load, on a sink that answers after 50 milliseconds, with 1,000 sends in flight.
struct DelayBenchmark {
    private static let rounds = 5
    private static let commands = 50_000
    private static let seconds = 5

    let peers: String

    private struct Figures: Encodable {
        let benchmark = "relay-delay"
        let relay: Double
        let h2load: Double
        let raw: Double
        let ratio: Double
        let ratioToRaw: Double
        /// Microseconds for each send.
        let processorTime: Double
        /// The number of the relay's connections.
        let connections: Int
    }

    func run() async throws {
        say("sends a second to a sink that answers after 50 ms, 1,000 at a time (median of \(Self.rounds) runs, in turns)")
        let figures = try await RelayBench.run(.delayed, peers: peers) { bench in
            var (relay, h2load, raw, times): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
            var connections = 0
            say(Table.row("relay", "h2load", "raw libcurl", "ratio", "relay's µs of processor a send"))
            for _ in 0..<Self.rounds {
                let (rate, time) = try await bench.relay.drive(commands: Self.commands)
                connections = max(connections, try Connections.count(on: bench.sink.port))
                relay.append(rate)
                times.append(time)
                h2load.append(try await load(bench))
                raw.append(try await bench.raw.send(Self.commands * RunningRelay.sendsOfCommand))
                say(
                    Table.row(
                        "\(Int(rate))", "\(Int(h2load[h2load.count - 1]))", "\(Int(raw[raw.count - 1]))",
                        "\((rate / h2load[h2load.count - 1]).twoDigits)", "\(time.twoDigits)"))
            }
            let rate = relay.median
            return Figures(
                relay: rate.rounded(), h2load: h2load.median.rounded(), raw: raw.median.rounded(),
                ratio: (rate / h2load.median).twoDigits, ratioToRaw: (rate / raw.median).twoDigits,
                processorTime: times.median.twoDigits, connections: connections)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    /// h2load's rate with ten connections of a hundred streams, in requests a second.
    private func load(_ bench: RelayBench) async throws -> Double {
        let headers = try String(contentsOfFile: bench.message.headersFile, encoding: .utf8).split(separator: "\n")
        let output = try await Peer(path: "/usr/bin/h2load").output(
            [
                "--duration", "\(Self.seconds)", "--warm-up-time", "1", "--clients", "10", "--max-concurrent-streams", "100",
                "--data", bench.message.bodyFiles[1], bench.sink.url + RelayedMessage.path,
            ] + headers.flatMap { ["--header", String($0)] })
        // "finished in 5.00s, 19571.40 req/s, 2.39MB/s"; "requests: …, 97857 succeeded, 0 failed, …"
        let figures = output.matches(of: /finished in [^,]+, ([0-9.]+) req\/s/).first.flatMap { Double($0.output.1) }
        guard let figures, figures > 0, output.contains(" 0 3xx, 0 4xx, 0 5xx") else {
            throw PeerFailure(description: "h2load said: \(output)")
        }
        return figures
    }
}
