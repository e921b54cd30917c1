import Base
import Schemas

/// The latency of commands at half of the relay's maximum rate, compared with the latency of the sends alone at the same rate.
struct LatencyBenchmark {
    private static let rounds = 5
    private static let seconds = 5.0

    let peers: String

    private struct Figures: Encodable {
        struct Percentiles: Encodable {
            let p50: Double
            let p99: Double
        }

        let benchmark = "relay-latency"
        /// Sends a second.
        let rate: Double
        let relay: Percentiles
        let raw: Percentiles
        /// The difference of the 99th percentiles of the relay and of the sink, in milliseconds.
        let above: Double
    }

    func run() async throws {
        let figures = try await RelayBench.run(.immediate, peers: peers) { bench in
            var rates: [Double] = []
            for _ in 0..<3 { rates.append(try await bench.relay.drive(commands: 20_000).rate) }
            let sends = ((rates.max() ?? 0) / 2).rounded()
            let commands = sends / Double(RunningRelay.sendsOfCommand)
            say(
                "milliseconds from when it was due to its answer, at \(Int(sends)) sends a second, half of the most"
                    + " (median of \(Self.rounds) runs, in turns)")
            var (relay, raw): ([(p50: Double, p99: Double)], [(p50: Double, p99: Double)]) = ([], [])
            say(Table.row("relay's p50", "p99", "raw p50", "p99"))
            for _ in 0..<Self.rounds {
                relay.append(try await bench.relay.latency(commands: Int(commands * Self.seconds), rate: commands))
                raw.append(try await bench.raw.latency(Int(sends * Self.seconds), rate: sends))
                let columns = [relay, raw].compactMap(\.last).flatMap { [$0.p50, $0.p99] }.map { "\($0.twoDigits)" }
                say(Table.row(columns[0], columns[1], columns[2], columns[3]))
            }
            func medians(_ runs: [(p50: Double, p99: Double)]) -> Figures.Percentiles {
                Figures.Percentiles(
                    p50: (runs.map(\.p50).median).twoDigits, p99: (runs.map(\.p99).median).twoDigits)
            }
            return Figures(
                rate: sends, relay: medians(relay), raw: medians(raw),
                above: (relay.map(\.p99).median - raw.map(\.p99).median).twoDigits)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }
}
