import ArgumentParser
import FoundationEssentials
import Glibc
import ServiceKit
import UnixSignals

/// Why a request to the gateway has failed.
struct GatewayFailure: Error, CustomStringConvertible {
    enum Kind: Sendable {
        /// The gateway does not accept the request.
        case refused
        /// There is no such object.
        case notFound
        /// The token is missing, wrong, or does not allow it.
        case notAllowed
        /// The gateway does not answer.
        case unreachable
    }

    let kind: Kind
    /// One sentence.
    let description: String
    /// Whether the gateway may have done what was asked, although it has not said so.
    var mayBeDone = false

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The exit status, as in sysexits.h.
    var exitCode: ExitCode {
        switch kind {
        case .refused, .notFound: ExitCode(EX_DATAERR)
        case .notAllowed: ExitCode(EX_NOPERM)
        case .unreachable: ExitCode(EX_TEMPFAIL)
        }
    }
}

extension ParsableCommand {
    /// Runs a command that calls the gateway. An error goes to standard error, and decides the exit status.
    static func withGateway(_ body: (GatewayClient, SettingValues) async throws -> Void) async throws {
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            settings.warnings.forEach(say)
            try await GatewayClient.with(settings, report: { say($0) }) { try await body($0, settings) }
        } catch let error as ConfigurationError {
            say("\(error)")
            throw ExitCode(EX_CONFIG)
        } catch let error as GatewayFailure {
            say("\(error)")
            throw error.exitCode
        }
    }

    /// Writes a line to standard error.
    static func say(_ text: String) {
        // `msi cube import` is the command import of cube.
        let first = CommandLine.arguments.dropFirst().first ?? _commandName
        let name = first == _commandName || first.hasPrefix("-") ? _commandName : "\(first) \(_commandName)"
        let line = "msi \(name): \(text)\n"
        _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// Runs a body until it ends, or until Ctrl-C, SIGTERM or SIGHUP cancels it.
///
/// - Throws: The body's error.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask { for await _ in signals { break } }
        defer { group.cancelAll() }
        try await group.next()
    }
}
