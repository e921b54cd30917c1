import Bus
import FoundationEssentials
import Logging
import Schemas
import ServiceLifecycle
import Testing
import TestSupport

@Suite("The stop of a bus server", .timeLimit(.minutes(10)))
struct GracefulStopTests {
    @Test("A stop answers the requests that were accepted, and refuses new ones")
    func whatWasAcceptedIsAnswered() async throws {
        let gate = Gate()
        try await withBus { bus in
            let clientBus = try Bus(logger: quietLogger)
            let server = try CommandServer(
                bus: bus, endpoint: "tcp://127.0.0.1:0", router: .testing(gate: gate), logger: quietLogger)
            let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: quietLogger))
            let running = Task { try await group.run() }
            let client = try CommandClient(bus: clientBus, endpoints: [server.endpoint], logger: quietLogger)
            let requests = (0..<100).map { _ in Task { try await client.request(Hold(), timeout: .seconds(120)) } }
            try await eventually("all handlers begin") { gate.entered == 100 }

            await group.triggerGracefulShutdown()
            try await eventually("new requests are refused") {
                do {
                    _ = try await client.request(Echo(text: "new"))
                    return false
                } catch let error as CommandFailure {
                    #expect(error.status == .unavailable)
                    return error.message.contains("stopping")
                }
            }
            gate.open()
            for request in requests { _ = try await request.value }
            try await running.value
            await clientBus.close()
        }
    }

    @Test("A stop gives up handlers that do not end in time")
    func handlersThatDoNotEndAreGivenUp() async throws {
        try await withBus { bus in
            let gate = Gate()
            let server = try CommandServer(
                bus: bus, endpoint: "tcp://127.0.0.1:0", router: .testing(gate: gate),
                limits: .with { $0.drainTimeout = .milliseconds(50) }, logger: quietLogger)
            let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: quietLogger))
            let running = Task { try await group.run() }
            let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
            let request = Task { try await client.request(Hold(), timeout: .seconds(120)) }
            try await eventually("the handler begins") { gate.entered == 1 }
            await group.triggerGracefulShutdown()
            let failure = await #expect(throws: CommandFailure.self) { try await request.value }
            #expect(failure?.status == .unavailable)
            #expect(failure?.message.contains("outcome unknown") == true)
            try await running.value
        }
    }

    @Test("A cancelled server ends")
    func aCancelledServerEnds() async throws {
        try await withBus { bus in
            let gate = Gate()
            let server = try CommandServer(
                bus: bus, endpoint: "tcp://127.0.0.1:0", router: .testing(gate: gate), logger: quietLogger)
            let running = Task { try await server.run() }
            let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
            let request = Task { try await client.request(Hold(), timeout: .seconds(120)) }
            try await eventually("the handler begins") { gate.entered == 1 }
            running.cancel()
            try await running.value
            // The gate lets cancelled handlers pass, so this one may have answered.
            _ = await request.result
        }
    }
}
