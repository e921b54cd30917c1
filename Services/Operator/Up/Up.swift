import ArgumentParser
import DurableFiles
import FoundationEssentials
import Glibc
import Logging
import MongoDatabase
import ServiceKit
import ServiceLifecycle
import UnixSignals

/// `msi up`: runs the whole product on one machine until Ctrl-C, each service in its own process.
struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Starts everything on this machine, with a local FCM emulator and a phone to look at, and keeps it running until Ctrl-C.",
        discussion: """
            Settings come from the environment: MSI_GATEWAY_PORT (8080), MSI_FCM_EMULATOR_PORT (8443), MSI_PHONE_PORT (8090), MSI_STATE_DIR \
            (~/.local/state/msi), and all settings of the services (see their --help). SIGHUP makes the services read MSI_CONFIG_FILE again, \
            and this command says what has changed and what needs a restart. Before that each service checks it (--check-config): if one \
            finds a mistake, no service reads it, and nothing changes.
            """)

    func run() async throws {
        CounterSegment.unlink()
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            for warning in settings.warnings { print("msi up: \(warning)") }
            let stack = try Stack(settings)
            if let change = try StateDirectory.secure(stack.stateDirectory) { print("msi up: \(change)") }
            for name in ["token", "password"] {
                if let warning = FilePermissions.warning(about: "\(stack.stateDirectory)/\(name)") { print("msi up: \(warning)") }
            }
            let lock = try StateLock.control(of: stack.stateDirectory)
            defer { lock.release() }
            if try settings.optional(.databaseURL) == nil {
                for file in KnownStores.lost(in: stack.stateDirectory) {
                    try KnownStores.requirePresent(file, in: stack.stateDirectory)
                }
            }
            try await run(stack)
        } catch let error as ConfigurationError {
            print("msi up: \(error)")
            throw ExitCode(EX_CONFIG)
        } catch let error where error is StartFailure || error is StateLockFailure || error is LostStore {
            print("msi up: \(error)")
            throw ExitCode.failure
        }
    }

    private func run(_ stack: Stack) async throws {
        let supervisor = try Supervisor(stack: stack, isTerminal: isatty(STDOUT_FILENO) == 1) { line in
            print(line)
            fflush(nil)
        }
        var logger = Logger(label: "msi")
        logger.logLevel = .error
        let terminal = TerminalWatch()
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: supervisor, successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(
                        service: HangUps(hangUps: hangUps, terminal: terminal) { await supervisor.reload() },
                        successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigint, .sigterm], logger: logger))
        try await group.run()
    }
}

/// Passes SIGHUP on as a reload, until the terminal is gone, which stops the stack.
private struct HangUps: Service {
    let hangUps: UnixSignalsSequence
    let terminal: TerminalWatch
    let reload: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await _ in hangUps {
                    if terminal.isGone { break }
                    // A child that does not answer must not keep the next signal waiting.
                    group.addTask { await reload() }
                }
                group.cancelAll()
            }
        }
    }
}

/// The stack could not be started.
struct StartFailure: Error, CustomStringConvertible {
    let description: String
}
