import Bus
import Schemas
import TestSupport

/// A service on the bus, whose answers a test makes up.
enum BusDouble {
    /// Runs it at the endpoint that the services in a folder use.
    ///
    /// - Parameter name: The name of its socket, such as `fcm-relay`.
    static func run<Result>(
        _ name: String, in folder: String, isolation: isolated (any Actor)? = #isolation, answers: (inout CommandRouter) -> Void,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            answers(&router)
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/\(name).sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    /// Runs a test with a client of it.
    static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, answers: (inout CommandRouter) -> Void,
        _ body: (CommandClient) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            try await run("service", in: folder, answers: answers) {
                try await withBus { bus in
                    let endpoint = "ipc://\(folder)/run/service.sock"
                    return try await body(CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger))
                }
            }
        }
    }
}
