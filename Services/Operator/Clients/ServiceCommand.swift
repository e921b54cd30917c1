import ArgumentParser
import Bus
import FoundationEssentials
import Glibc
import Logging
import Schemas
import ServiceKit

/// A subcommand that talks to a service.
protocol ServiceCommand: AsyncParsableCommand {
    static var service: ServiceEntry { get }
    /// The exit status if the service refuses a command.
    static var refused: Int32 { get }
    /// What may be the reason that the service does not answer, as a question.
    static var suspicion: String { get }

    /// Why the service does not run; `nil` if nothing switches it off.
    ///
    /// - Throws: ``ConfigurationError``.
    static func switchedOff(by settings: SettingValues) throws -> String?

    /// - Returns: The text for standard output; empty if there is none.
    func run(_ client: ServiceClient, _ settings: SettingValues) async throws -> String
}

extension ServiceCommand {
    static var refused: Int32 { EXIT_FAILURE }
    static var suspicion: String { "Is msi up running, with the same MSI_STATE_DIR?" }

    static func switchedOff(by settings: SettingValues) throws -> String? { nil }

    func run() async throws {
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            let text = try await Self.asking(Self.service, settings) { try await run($0, settings) }
            if !text.isEmpty { print(text) }
        } catch let error as ConfigurationError {
            throw Self.end("\(error)", EX_CONFIG)
        } catch let failure as CommandFailure {
            throw Self.end(failure.message, Self.refused)
        } catch let failure as UnreadableFile {
            throw Self.end("\(failure)", EX_NOINPUT)
        } catch let failure as InputFailure {
            throw Self.end("\(failure)", EX_DATAERR)
        } catch let error as BusError {
            throw Self.end("\(error)", Self.refused)
        } catch let error where error is StartFailure || error is TypedPassword.Failure {
            throw Self.end("\(error)", EXIT_FAILURE)
        }
    }

    /// Runs a body with a client of a service: the command's own, or another one that it needs as well.
    ///
    /// - Throws: The exit status, after the error was printed, if the service does not answer or has too much to do; ``CommandFailure`` for
    ///   what it refuses; ``BusError``, ``ConfigurationError``, or the error of the body.
    static func asking<Value: Sendable>(
        _ service: ServiceEntry, _ settings: SettingValues, _ body: (ServiceClient) async throws -> Value
    ) async throws -> Value {
        let endpoints = try settings.value(.endpoints(of: service))
        return try await blaming(service, settings) {
            try await ServiceClient.with(endpoints, settings) { try await body($0) }
        }
    }

    /// Runs a body that asks one service. What is said of a service that does not answer names this one.
    ///
    /// - Throws: As ``asking(_:_:_:)``.
    static func blaming<Value: Sendable>(
        _ service: ServiceEntry, _ settings: SettingValues, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let failure as CommandFailure where failure.status == .unavailable || failure.status == .deadlineExceeded {
            if service == Self.service, let reason = try switchedOff(by: settings) { throw end(reason, refused) }
            let endpoints = try settings.value(.endpoints(of: service))
            throw end(
                "the \(service.title) does not answer at \(endpoints.joined(separator: ", ")): \(failure.message). \(suspicion)",
                EX_TEMPFAIL)
        } catch let failure as CommandFailure where failure.status == .overloaded {
            throw end("\(failure.message); try again later", EX_TEMPFAIL)
        }
    }

    private static func end(_ error: String, _ code: Int32) -> ExitCode {
        StandardError.write("msi: \(error)\n")
        return ExitCode(code)
    }
}

/// Sends commands to a service.
struct ServiceClient: Sendable {
    /// Hashing a password takes seconds on a busy machine, for example while all services start. A missing service is noticed
    /// earlier.
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

extension CallerContext {
    /// The author of changes by the command line, for the audit log: the Unix user, whose name cannot be that of an account.
    fileprivate static var commandLine: CallerContext {
        let id = geteuid()
        let name = getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id)
        return CallerContext(actor: "cli:\(name)", address: "local")
    }
}

/// Sends commands to the people service.
typealias PeopleClient = ServiceClient

extension PeopleClient {
    /// Whether a credential is valid.
    func knows(_ hash: CredentialHash) async throws(CommandFailure) -> Bool {
        do throws(CommandFailure) {
            _ = try await request(FindCredential(hash: hash))
            return true
        } catch {
            if error.status == .notFound { return false }
            throw error
        }
    }
}

extension CommandClient {
    /// Runs a body with a client of a service's instances, and closes it.
    ///
    /// - Throws: ``BusError`` for an invalid endpoint, ``ConfigurationError`` for missing keys, or the error of the body.
    static func with<Value: Sendable>(
        _ endpoints: [String], _ settings: SettingValues, _ body: (CommandClient) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "msi")
        // The caller reports a failure.
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(try CommandClient(bus: bus, endpoints: endpoints, logger: logger)))
        } catch {
            outcome = .failure(error)
        }
        await bus.close()
        return try outcome.get()
    }
}
