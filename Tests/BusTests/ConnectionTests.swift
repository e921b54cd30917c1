import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import ServiceLifecycle
import Testing
import TestSupport

@Suite("Connections of the bus", .timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test(
        "Without a service, a request fails after the grace time, and the failure names the endpoint or the pattern",
        arguments: ["none.sock", "none/relay@*.sock"])
    func withoutAServiceARequestFailsAfterTheGrace(name: String) async throws {
        try await withBusAndFolder { bus, folder in
            let endpoint = "ipc://\(folder)/\(name)"
            let client = try CommandClient(
                bus: bus, endpoints: [endpoint], limits: .with { $0.connectGrace = .milliseconds(50) }, logger: quietLogger)
            let failure = await client.failure(of: Echo(text: ""))
            #expect(failure?.status == .unavailable)
            #expect(failure?.message.hasPrefix("no connection to \(endpoint)") == true)
            #expect(failure?.message.hasSuffix("; the command was not sent") == true)
        }
    }

    @Test("A request waits for a service that starts soon")
    func aRequestWaitsForAServiceThatIsAboutToCome() async throws {
        try await withBusAndFolder { bus, folder in
            let endpoint = "ipc://\(folder)/late.sock"
            let client = try CommandClient(
                bus: bus, endpoints: [endpoint], limits: .with { $0.connectGrace = .seconds(20) }, logger: quietLogger)
            let early = Task { try await client.request(Echo(text: "early"), timeout: .seconds(60)) }
            try await withServer(bus, at: endpoint) { _ in
                let echo = try await early.value
                #expect(echo.text == "early")
            }
        }
    }

    @Test("A client reconnects to a service that was restarted", arguments: ["ipc", "tcp"])
    func aClientReconnects(transport: String) async throws {
        try await withBusAndFolder { bus, folder in
            var endpoint = transport == "ipc" ? "ipc://\(folder)/again.sock" : "tcp://127.0.0.1:0"
            var client: CommandClient?
            for round in 1...3 {
                // A TCP port is free again a moment after its server has closed.
                var server: CommandServer?
                try await eventually("the endpoint is free again") {
                    do {
                        server = try CommandServer(
                            bus: bus, endpoint: endpoint, router: .testing(), logger: quietLogger)
                        return true
                    } catch let error as BusError where error.code == .addressInUse {
                        return false
                    }
                }
                let running = Task { [server] in try await server?.run() }
                endpoint = try #require(server?.endpoint)
                let connected =
                    try client
                    ?? CommandClient(
                        bus: bus, endpoints: [endpoint], limits: .with { $0.connectGrace = .seconds(20) },
                        logger: quietLogger)
                client = connected
                try await eventually("round \(round) is answered") {
                    do {
                        return try await connected.request(Echo(text: "x", number: round)).number == round
                    } catch let error as CommandFailure {
                        // The loss of the last round's connection may be noticed only now.
                        #expect(error.status == .unavailable)
                        return false
                    }
                }
                running.cancel()
                try await running.value
            }
        }
    }

    @Test("A lost connection ends its requests at once")
    func aLostConnectionEndsItsRequestsAtOnce() async throws {
        try await withBus { bus in
            let service = try RawPeer(ZMQ_ROUTER, boundTo: "tcp://127.0.0.1:*")
            let client = try CommandClient(bus: bus, endpoints: [service.endpoint], logger: quietLogger)
            let requests = (0..<10).map { _ in Task { try await client.request(Hold(), timeout: .seconds(120)) } }
            for _ in 0..<10 { _ = try await service.receive() }
            service.close()
            for request in requests {
                let failure = await #expect(throws: CommandFailure.self) { try await request.value }
                #expect(failure?.status == .unavailable)
                #expect(failure?.message.contains("outcome unknown") == true)
            }
        }
    }

    @Test("A peer that hangs is noticed")
    func aStoppedPeerIsNoticed() async throws {
        try await withBusAndFolder { bus, folder in
            // Like a stopped process: the system accepts the connection, and there is no answer.
            let silent = try UnixSocket(listeningAt: "\(folder)/silent.sock")
            defer { silent.close() }
            let limits = ClientLimits.with {
                $0.connectGrace = .milliseconds(200)
                $0.silence = .milliseconds(300)
            }
            let client = try CommandClient(
                bus: bus, endpoints: ["ipc://\(folder)/silent.sock"], limits: limits, logger: quietLogger)
            let failure = await #expect(throws: CommandFailure.self) {
                try await client.request(Echo(text: ""), timeout: .seconds(60))
            }
            #expect(failure?.status == .unavailable)
        }
    }

    @Test("Closing the bus ends all requests and servers")
    func closingTheBusEndsEverything() async throws {
        let gate = Gate()
        let serverBus = try Bus(logger: quietLogger)
        let clientBus = try Bus(logger: quietLogger)
        let server = try CommandServer(
            bus: serverBus, endpoint: "tcp://127.0.0.1:0", router: .testing(gate: gate), logger: quietLogger)
        let running = Task { try await server.run() }
        let client = try CommandClient(bus: clientBus, endpoints: [server.endpoint], logger: quietLogger)
        let subscriber = try EventSubscriber(bus: clientBus, endpoints: [server.endpoint], logger: quietLogger)
        let request = Task { try await client.request(Hold(), timeout: .seconds(120)) }
        try await eventually("the handler begins") { gate.entered == 1 }
        await clientBus.close()
        await #expect(throws: CommandFailure(.unavailable, "the client is closed")) { try await request.value }
        await #expect(throws: CommandFailure(.unavailable, "the client is closed")) { try await client.request(Hold()) }
        for await _ in subscriber.events {}
        await serverBus.close()
        try await running.value
        await serverBus.close()
        #expect(throws: BusError.self) {
            try CommandClient(bus: clientBus, endpoints: ["tcp://127.0.0.1:9"], logger: quietLogger)
        }
    }
}
