import Base
import Schemas
import TestSupport

/// The relay's memory during a million sends with few in flight, and then a million with as many in flight as the
/// connections to FCM carry.
struct MemoryBenchmark {
    private static let parts = 10
    private static let sendsOfPart = 100_000

    let peers: String

    /// A million sends.
    private struct Load: Encodable {
        let sendsInFlight: Int
        /// The maximum resident memory in MiB in each tenth of the sends.
        let resident: [Double]
        let maxResident: Double
        /// The ratio of the last tenth's to the second tenth's. The first tenth is the warm-up.
        let growth: Double
        let threads: Int
        let descriptors: Int
    }

    private struct Figures: Encodable {
        let benchmark = "relay-memory"
        let sends: Int
        let loads: [Load]
    }

    func run() async throws {
        let sends = Self.parts * Self.sendsOfPart
        say("the relay's resident memory over \(sends) sends")
        let few = 200
        let figures = try await RelayBench.run(
            .immediate, peers: peers, commandsInFlight: few / RunningRelay.sendsOfCommand
        ) { bench in
            say(Table.row("in flight", "sends", "MiB at most", "threads", "descriptors"))
            // FCM's default quota at a round trip of 20 ms; ten connections of a hundred streams.
            var loads: [Load] = []
            for sendsInFlight in [few, 1_000] { loads.append(try await load(bench.relay, sendsInFlight: sendsInFlight)) }
            return Figures(sends: sends, loads: loads)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func load(_ relay: RunningRelay, sendsInFlight: Int) async throws -> Load {
        var resident: [Double] = []
        var last = try ProcessUsage(of: relay.process.identifier)
        for part in 1...Self.parts {
            resident.append((Double(try await drive(relay, sendsInFlight: sendsInFlight)) / 1_024).twoDigits)
            last = try ProcessUsage(of: relay.process.identifier)
            say(
                Table.row(
                    "\(sendsInFlight)", "\(part * Self.sendsOfPart)", "\(resident[part - 1])", "\(last.threads)",
                    "\(last.descriptors)"))
        }
        return Load(
            sendsInFlight: sendsInFlight, resident: resident, maxResident: resident.max() ?? 0,
            growth: (resident[Self.parts - 1] / resident[1]).twoDigits, threads: last.threads, descriptors: last.descriptors)
    }

    /// A part of the sends.
    ///
    /// - Returns: The maximum resident memory during that time, in KiB.
    private func drive(_ relay: RunningRelay, sendsInFlight: Int) async throws -> Int {
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
        _ = try await relay.drive(
            commands: Self.sendsOfPart / RunningRelay.sendsOfCommand,
            inFlight: sendsInFlight / RunningRelay.sendsOfCommand)
        watch.cancel()
        return try await watch.value
    }
}
