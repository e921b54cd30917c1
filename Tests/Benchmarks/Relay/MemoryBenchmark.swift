import Schemas
import TestSupport

/// What the relay holds while it does a million sends.
struct MemoryBenchmark {
    private static let parts = 10
    private static let commandsOfPart = 50_000

    let peers: String

    private struct Figures: Encodable {
        let benchmark = "relay-memory"
        let sends: Int
        /// The most resident memory in MiB in each tenth of the sends.
        let resident: [Double]
        let mostResident: Double
        /// The last tenth's by the second's: the first one warms it up.
        let growth: Double
        let threads: Int
        let descriptors: Int
    }

    func run() async throws {
        let sends = Self.parts * Self.commandsOfPart * RunningRelay.sendsOfCommand
        say("the relay's resident memory over \(sends) sends")
        let figures = try await RelayBench.run(.immediate, peers: peers) { bench in
            say(Table.row("sends", "MiB at most", "threads", "descriptors"))
            var resident: [Double] = []
            var last = try ProcessUsage(of: bench.relay.process.identifier)
            for part in 1...Self.parts {
                resident.append((Double(try await drive(bench.relay)) / 1_024).twoDigits)
                last = try ProcessUsage(of: bench.relay.process.identifier)
                say(
                    Table.row(
                        "\(part * Self.commandsOfPart * RunningRelay.sendsOfCommand)", "\(resident[part - 1])",
                        "\(last.threads)", "\(last.descriptors)"))
            }
            return Figures(
                sends: sends, resident: resident, mostResident: resident.max() ?? 0,
                growth: (resident[Self.parts - 1] / resident[1]).twoDigits, threads: last.threads,
                descriptors: last.descriptors)
        }
        say(String(decoding: try SchemaJSON.encode(figures), as: UTF8.self))
    }

    /// A part of the sends.
    ///
    /// - Returns: The most resident memory meanwhile, in KiB.
    private func drive(_ relay: RunningRelay) async throws -> Int {
        let process = relay.process.identifier
        let watch = Task {
            var most = 0
            while !Task.isCancelled {
                most = max(most, try ProcessUsage(of: process).resident)
                try? await Task.sleep(for: .milliseconds(50))
            }
            return most
        }
        defer { watch.cancel() }
        _ = try await relay.drive(commands: Self.commandsOfPart)
        watch.cancel()
        return try await watch.value
    }
}
