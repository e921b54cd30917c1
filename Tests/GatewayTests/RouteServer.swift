import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import TestSupport

@testable import Gateway

/// Runs a test with the gateway's HTTP server in the process of the test. The test chooses the routes and the timeouts.
///
/// - Parameters:
///   - services: Services to run beside it.
///   - body: Gets the port.
func withRouteServer(
    _ routes: [Route], timeouts: ConnectionTimeouts = ConnectionTimeouts(), beside services: [any Service] = [],
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let limit = ConnectionLimit(maxConnections: 100, logger: logger)
    let router = Router.gateway(allowedOrigins: [], limit: limit, logger: logger)
    router.add(routes)
    let (ports, port) = AsyncStream<Int>.makeStream()
    let server = Application(
        router: router, server: HTTPServerBuilder { GatewayChannel(responder: $0, limit: limit, timeouts: timeouts) },
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let group = ServiceGroup(configuration: .init(services: services + [server], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        for await number in ports {
            try await body(number)
            break
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
