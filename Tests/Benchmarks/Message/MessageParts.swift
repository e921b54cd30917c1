import TestSupport

/// The parts of a message's path, each measured alone, by the number in flight.
struct MessageParts {
    let scale: Scale
    let peers: String
    let folder: String

    private var seconds: Double { scale.pick(1, smoke: 0.2) }

    /// Answers a second of a route that needs only the gateway.
    func routes(_ driver: GatewayDriver, clients: [Int]) async throws -> [Int: Double] {
        try await rates(clients) { try await driver.askForProblem(clients: $0, seconds: seconds) }
    }

    /// Durable insertions a second into a separate archive.
    func inserts(_ database: BenchmarkedDatabase, clients: [Int]) async throws -> [Int: Double] {
        try await rates(clients) { clients in
            try await database.withStore { store, _ in
                try await InsertRate.measure(store, clients: clients, seconds: seconds)
            }
        }
    }

    /// Messages a second, of two sends each, of a relay on a sink that answers at once.
    func relays(clients: [Int]) async throws -> [Int: Double] {
        try await RelayBench.run(.immediate, peers: peers) { bench in
            try await rates(clients) { clients in
                let commands = clients == 1 ? 2_000 : 20_000
                return try await bench.relay.drive(commands: commands, inFlight: clients).rate
                    / Double(RunningRelay.sendsOfCommand)
            }
        }
    }

    private func rates(_ clients: [Int], _ measure: (Int) async throws -> Double) async throws -> [Int: Double] {
        var rates: [Int: Double] = [:]
        for clients in clients { rates[clients] = try await measure(clients) }
        return rates
    }
}
