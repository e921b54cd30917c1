import CommandBus
import Logging
import Synchronization

/// The rate of answered requests of a bus client.
enum RoundTripRate {
    /// - Parameters:
    ///   - inFlight: The number of concurrent requests, each from its own task on the bus thread.
    ///   - request: Sends a request, and returns when it is answered.
    static func measure(
        _ endpoint: String, inFlight: Int, seconds: Double,
        request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> Double {
        let logger = Logger(label: "benchmark")
        let bus = try Bus(logger: logger)
        do {
            let client = try CommandClient(
                bus: bus, endpoints: [endpoint], limits: .patient, logger: logger)
            // The first round trip waits for the connection and is not measured.
            try await request(client)
            let rate = try await withTaskExecutorPreference(bus.taskExecutor) {
                try await Self.rate(client, inFlight: inFlight, seconds: seconds, request: request)
            }
            await bus.close()
            return rate
        } catch {
            await bus.close()
            throw error
        }
    }

    private static func rate(
        _ client: CommandClient, inFlight: Int, seconds: Double,
        request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> Double {
        let isOver = Flag()
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var count = 0
                    while !isOver.isSet {
                        try await request(client)
                        count += 1
                    }
                    return count
                }
            }
            try await Task.sleep(for: .seconds(seconds))
            isOver.set()
            return try await group.reduce(0, +)
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }

        func set() { value.store(true, ordering: .relaxed) }
    }
}

extension ClientLimits {
    /// Waits for a server that is just starting.
    fileprivate static var patient: ClientLimits {
        var limits = ClientLimits()
        limits.connectGrace = .seconds(10)
        return limits
    }
}
