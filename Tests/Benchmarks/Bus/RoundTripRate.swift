import Bus
import Logging
import Synchronization

/// The rate of answered requests of a bus client.
enum RoundTripRate {
    /// - Parameters:
    ///   - inFlight: The number of concurrent requests, each from its own task on the bus thread.
    ///   - request: Sends a request, and returns when it is answered.
    static func measure(
        _ endpoint: String, security: BusSecurity = .loopbackOnly, inFlight: Int, seconds: Double,
        request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> Double {
        try await withClient(of: endpoint, security, request) { client in
            try await Self.rate(client, inFlight: inFlight, seconds: seconds, request: request)
        }
    }

    /// The time of each of the requests that are sent one after the other, in seconds.
    ///
    /// - Parameter request: As in ``measure(_:security:inFlight:seconds:request:)``.
    static func times(
        _ endpoint: String, security: BusSecurity, seconds: Double,
        request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void
    ) async throws -> [Double] {
        try await withClient(of: endpoint, security, request) { client in
            var times: [Double] = []
            let end = ContinuousClock.now + .seconds(seconds)
            repeat {
                let start = ContinuousClock.now
                try await request(client)
                times.append((ContinuousClock.now - start) / .seconds(1))
            } while ContinuousClock.now < end
            return times
        }
    }

    /// Runs a body on the bus thread of a client that is connected.
    private static func withClient<Value: Sendable>(
        of endpoint: String, _ security: BusSecurity,
        _ request: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Void,
        _ body: nonisolated(nonsending) @escaping @Sendable (CommandClient) async throws -> Value
    ) async throws -> Value {
        let logger = Logger(label: "benchmark")
        let bus = try Bus(security: security, logger: logger)
        do {
            let client = try CommandClient(
                bus: bus, endpoints: [endpoint], limits: .patient, logger: logger)
            // The first round trip waits for the connection and is not measured.
            try await request(client)
            let value = try await withTaskExecutorPreference(bus.taskExecutor) { try await body(client) }
            await bus.close()
            return value
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
