package import Bus
import FoundationEssentials
package import Logging
package import Schemas

/// A logger for parts of the product whose log lines no test reads.
package let quietLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Runs a test with a new bus, and closes it.
package func withBus<Result>(
    security: BusSecurity = .loopbackOnly, logger: Logger = quietLogger, isolation: isolated (any Actor)? = #isolation,
    _ body: (Bus) async throws -> Result
) async throws -> Result {
    let bus = try Bus(security: security, logger: logger)
    return try await perform {
        try await body(bus)
    } finally: {
        await bus.close()
    }
}

extension CommandClient {
    /// The failure of a command, or `nil` if it succeeds.
    package func failure<C: Command>(of command: C, context: CallerContext = .init()) async -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try await request(command, context: context)
            return nil
        } catch {
            return error
        }
    }

    /// The failure of a command with a handwritten payload, or `nil` if it succeeds.
    package func failure(
        of name: String, _ payload: String, context: CallerContext = .init()
    ) async -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try await request(name, payload: Data(payload.utf8), context: context)
            return nil
        } catch {
            return error
        }
    }
}
