import Base
import NIOCore
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// Streams of events on the gateway's HTTP server, in the process of the test, with short times.
@Suite("Signs of life on streams of events", .timeLimit(.minutes(10)))
struct KeepAliveTests {
    @Test("With the times of the API's document, an event comes before a silent stream ends, and a slow request ends after 10 s")
    func times() {
        #expect(EventHub.defaultKeepAlivePeriod == .seconds(4) && ConnectionTimeouts().response == .seconds(30))
        #expect(ConnectionTimeouts().request == .seconds(10))
    }

    @Test("A stream outlives the deadline of a response, and a sign of life now and then keeps its connection")
    func keepAlive() async throws {
        let principal = try Principal.sample(.superUser)
        try await CopiesAlone.with { copies, folder in
            copies.add(principal)
            try await RunningGateway.withServices(["msi-cube", "msi-message-log"], in: folder) {
                try await withBus { bus in
                    let settings = try await SettingValues(
                        arguments: [], environment: ["MSI_STATE_DIR": folder], accepted: [])
                    let clients = try ServiceClients(bus: bus, settings: settings, logger: quietLogger)
                    let cube = try CubeRoutes(client: clients[.cube], bus: bus, settings: settings, logger: quietLogger)
                    let hub = try EventHub(
                        bus: bus, cube: cube.service, health: HealthCheck(clients: clients, parts: [:], copies: [:]),
                        access: EventAccess(cube: cube.service, credentials: copies.credentials),
                        keepAlivePeriod: .milliseconds(300), settings: settings, logger: quietLogger)
                    let events = EventRoutes(hub: hub, limits: StreamLimits(maxConnections: 10))
                    var timeouts = ConnectionTimeouts()
                    timeouts.response = .seconds(3)
                    try await withRouteServer(
                        events.routes, as: principal, timeouts: timeouts, beside: cube.background + events.background
                    ) { port in
                        try await withHTTPClient { http in
                            try await EventStreamClient.with("http://127.0.0.1:\(port)/events", http: http) { stream in
                                // Longer than the time of a response.
                                try await eventually("a twelfth sign of life") { stream.events("alive").count >= 12 }
                                #expect(!stream.hasEnded && stream.events("alive").allSatisfy { $0 == [:] })
                            }
                        }
                    }
                }
            }
        }
    }
}
