package import Bus

extension CommandRouter {
    /// Runs a service of a test at an endpoint, such as that of the message log in a test's folder.
    package func run<Result>(
        at endpoint: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let server = try CommandServer(bus: bus, endpoint: endpoint, router: self, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }
}
