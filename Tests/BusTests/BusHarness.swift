import Bus
import FoundationEssentials
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

/// Runs a test with a bus, and a folder for its sockets.
func withBusAndFolder(_ body: (Bus, String) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        try await withBus { bus in try await body(bus, folder) }
    }
}

extension CommandRouter {
    /// Answers each request with a name.
    static func named(_ name: String) -> CommandRouter {
        var router = CommandRouter()
        router.on("test.name") { _, _ in Data(name.utf8) }
        return router
    }
}

extension CommandClient {
    /// The names of the servers that answer some requests.
    func names(_ count: Int) async throws -> [String] {
        var names: [String] = []
        for _ in 0..<count {
            names.append(String(decoding: try await request("test.name", payload: Data()), as: UTF8.self))
        }
        return names
    }
}
