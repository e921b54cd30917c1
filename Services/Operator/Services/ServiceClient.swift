import CommandBus
import Glibc
import Schemas
import ServiceKit

/// Sends commands to a service.
struct ServiceClient: Sendable {
    /// Hashing a password takes seconds on a machine that is busy, for example because all services start. A service that is not
    /// there is noticed earlier.
    private static let timeout = Duration.seconds(30)

    private let client: CommandClient

    /// Runs a body with a client, and closes it.
    ///
    /// - Throws: ``CommandFailure``, ``BusError`` for an invalid endpoint, ``ConfigurationError`` for missing keys, or the error of
    ///   the body.
    static func with<Value: Sendable>(
        _ endpoints: [String], _ settings: SettingValues, _ body: (ServiceClient) async throws -> Value
    ) async throws -> Value {
        try await CommandClient.with(endpoints, settings) { try await body(ServiceClient(client: $0)) }
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
