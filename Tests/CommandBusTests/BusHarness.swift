import CommandBus
import Logging
import TestSupport

/// Runs a test with a running server, and stops it afterwards.
func withServer(
    _ bus: Bus, at endpoint: String, _ router: CommandRouter = .testing(), limits: ServerLimits = .init(),
    logger: Logger = quietLogger, _ body: (CommandServer) async throws -> Void
) async throws {
    let server = try CommandServer(bus: bus, endpoint: endpoint, router: router, limits: limits, logger: logger)
    let running = Task { try await server.run() }
    do {
        try await body(server)
    } catch {
        running.cancel()
        try await running.value
        throw error
    }
    running.cancel()
    try await running.value
}

/// Runs a test with a server and a client of it.
func withServerAndClient(
    at endpoint: String = "tcp://127.0.0.1:0", _ router: CommandRouter = .testing(),
    limits: ServerLimits = .init(), clientLimits: ClientLimits = .init(),
    _ body: (CommandServer, CommandClient) async throws -> Void
) async throws {
    try await withBus { bus in
        try await withServer(bus, at: endpoint, router, limits: limits) { server in
            let client = try CommandClient(
                bus: bus, endpoints: [server.endpoint], limits: clientLimits, logger: quietLogger)
            try await body(server, client)
        }
    }
}
