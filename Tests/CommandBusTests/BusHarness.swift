import CommandBus
import FoundationEssentials
import Logging
import Testing

let quietLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Runs a test with a bus of its own, and closes it whatever happens.
func withBus(_ body: (Bus) async throws -> Void) async throws {
    let bus = try Bus(logger: quietLogger)
    do {
        try await body(bus)
    } catch {
        await bus.close()
        throw error
    }
    await bus.close()
}

/// Runs a test with a server that runs, and stops it afterwards.
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

/// A folder for Unix sockets, with a short path.
func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
    let folder = "/tmp/bus-\(UInt64.random(in: 0..<UInt64.max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { removeTree(folder) }
    try await body(folder)
}

private func removeTree(_ folder: String) {
    do {
        try FileManager.default.removeItem(atPath: folder)
    } catch {
        Issue.record("cannot remove \(folder): \(error)")
    }
}

/// Waits until a condition holds; a test fails where that takes longer than anything should.
func eventually(
    within limit: Duration = .seconds(10), _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record(what, sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
