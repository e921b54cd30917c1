import Bus
import Schemas
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Health check", .timeLimit(.minutes(10)))
struct HealthCheckTests {
    @Test("However many ask, a service is asked at most twice a second")
    func shared() async throws {
        try await withBus { bus in
            let asked = Mutex(0)
            let router = CommandRouter(parts: {
                asked.withLock { $0 += 1 }
                return [:]
            })
            let server = try CommandServer(bus: bus, endpoint: "tcp://127.0.0.1:0", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
            let check = HealthCheck(clients: ServiceClients(all: [(.cube, client)]), parts: [:], copies: [:])
            let start = ContinuousClock.now
            for _ in 0..<20 {
                await withDiscardingTaskGroup { group in
                    for _ in 0..<50 { group.addTask { #expect(await check.read().services["cube"] == .ok) } }
                }
            }
            let periods = (ContinuousClock.now - start) / .milliseconds(500)
            #expect(Double(asked.withLock(\.self)) <= periods + 1)
            let before = asked.withLock(\.self)
            try await eventually {
                _ = await check.read()
                return asked.withLock(\.self) > before
            }
        }
    }
}
