import ArgumentParser
import FoundationEssentials
import Glibc
import ServiceKit

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
