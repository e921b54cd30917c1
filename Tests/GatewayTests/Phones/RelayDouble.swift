import CommandBus
import Schemas
import TestSupport

/// A relay on the bus, whose answers a test makes up.
enum RelayDouble {
    /// Runs it at the endpoint that the services in a folder use.
    static func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, answers: (inout CommandRouter) -> Void,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            answers(&router)
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/fcm-relay.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }
}
