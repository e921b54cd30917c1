package import ServiceKit
import ServiceLifecycle

extension ServicePlan {
    /// Runs a test with the service in the process of the test, and stops the service gracefully afterwards.
    package func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let group = ServiceGroup(configuration: .init(services: services.map { .init(service: $0) }, logger: quietLogger))
        let running = Task { try await group.run() }
        return try await perform {
            try await body()
        } finally: {
            await group.triggerGracefulShutdown()
            try await running.value
            try await close()
        }
    }
}
