import CommandBus
import Glibc
import Logging
import Schemas

/// Sends commands to a service.
struct ServiceClient: Sendable {
    /// Hashing a password takes seconds on a machine that is busy, for example because all services start. A service that is not
    /// there is noticed earlier.
    private static let timeout = Duration.seconds(30)

    private let client: CommandClient

    /// Runs a body with a client, and closes it.
    ///
    /// - Throws: ``CommandFailure``, ``BusError`` for an invalid endpoint, or the error of the body.
    static func with<Value: Sendable>(
        _ endpoints: [String], _ body: (ServiceClient) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "msi")
        // The caller reports a failure.
        logger.logLevel = .critical
        let bus = try Bus(logger: logger)
        let outcome: Result<Value, any Error>
        do {
            let client = try CommandClient(bus: bus, endpoints: endpoints, logger: logger)
            outcome = .success(try await body(ServiceClient(client: client)))
        } catch {
            outcome = .failure(error)
        }
        await bus.close()
        return try outcome.get()
    }

    func request<C: Command>(_ command: C) async throws(CommandFailure) -> C.Reply {
        try await client.request(command, timeout: Self.timeout, context: .commandLine)
    }
}

extension RequestContext {
    /// The author of changes by the command line, for the audit log: the Unix user, whose name cannot be that of an account.
    fileprivate static var commandLine: RequestContext {
        let id = geteuid()
        let name = getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id)
        return RequestContext(actor: "cli:\(name)", address: "local")
    }
}
