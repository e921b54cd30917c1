package import FoundationEssentials
package import ServiceKit
import ServiceLifecycle
package import Testing

/// Runs a test with a service's process, and stops it with SIGTERM afterwards. Its status must be 0, unless the test has ended
/// the process itself.
package func withService<Result>(
    _ name: String, in folder: String, settings: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ body: (ServiceProcess) async throws -> Result
) async throws -> Result {
    let process = try await ServiceProcess(name, in: folder, settings: settings)
    do {
        let result = try await body(process)
        if process.isRunning {
            let status = await process.stop()
            #expect(status == 0, "\(name) said: \(process.log.suffix(2_000))", sourceLocation: sourceLocation)
        }
        return result
    } catch {
        await process.kill()
        throw error
    }
}

/// Runs a body with services of the product as processes in one state directory, without `msi up`. They start in the given order. Beside
/// the people service there are the operator's account and token.
///
/// At the end they are stopped in reverse order, and those that are still running must end with status 0. After an error they are killed.
///
/// - Parameters:
///   - names: The names of the executables.
///   - executables: Their folder.
///   - settings: The settings of an executable. Those before it are ready.
package func withServices<Result>(
    _ names: [String], in folder: String, executables: URL = ServiceProcess.executables,
    settings: (_ name: String, _ running: [ServiceProcess]) throws -> [String: String],
    isolation: isolated (any Actor)? = #isolation, _ body: ([ServiceProcess]) async throws -> Result
) async throws -> Result {
    var processes: [ServiceProcess] = []
    do {
        for name in names {
            processes.append(
                try await ServiceProcess(name, in: folder, settings: settings(name, processes), executables: executables))
            if name == ServiceEntry.people.executable { try await TestOperator.setUp(in: folder) }
        }
        let result = try await body(processes)
        for process in processes.reversed() where process.isRunning {
            let status = await process.stop()
            guard status == 0 else { throw TooLate("\(process.name) ended with \(status): \(process.log.suffix(2_000))") }
        }
        return result
    } catch {
        for process in processes.reversed() { await process.kill() }
        throw error
    }
}

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
