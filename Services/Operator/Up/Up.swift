import ArgumentParser
import Base
import FoundationEssentials
import Glibc
import Logging
import Store
import ServiceKit
import ServiceLifecycle
import UnixSignals

/// `msi up`: runs the whole product on one machine until Ctrl-C, each service in its own process.
struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Starts everything on this machine, with local emulators of FCM and of identity providers, and a phone to look at, and keeps it "
            + "running until Ctrl-C.",
        discussion: """
            Settings come from the environment: MSI_GATEWAY_PORT (8080), MSI_FCM_EMULATOR_PORT (8443), MSI_IDENTITY_EMULATOR_PORT (8444), \
            MSI_PHONE_PORT (8090), MSI_STATE_DIR (~/.local/state/msi), and all settings of the services (see their --help). SIGHUP makes the services read MSI_CONFIG_FILE again, \
            and this command says what has changed and what needs a restart. A service that finds a mistake keeps the settings that it has.
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

/// The services of an earlier `msi up` that was killed. They stop by themselves within moments. Until then they hold their ports,
/// sockets and locks.
struct PreviousStack {
    /// Their log files.
    let logs: [LogFile]
    let say: @Sendable (String) -> Void

    /// Waits until they have ended.
    ///
    /// - Throws: ``StartFailure`` if they take longer than the timeout, `CancellationError` if this process is stopped.
    func end(within timeout: Duration) async throws {
        var running = stillRunning
        guard !running.isEmpty else { return }
        say("waiting for the services of an earlier msi up to stop: \(running.joined(separator: ", "))")
        let deadline = ContinuousClock.now + timeout
        while !running.isEmpty {
            guard ContinuousClock.now < deadline else {
                let holders = logs.filter { running.contains($0.name) }.flatMap { LockHolder.all(of: $0.path) }
                throw StartFailure(
                    description: "\(running.joined(separator: ", ")) of an earlier msi up did not stop within "
                        + "\(timeout.formatted); end that first, and start again"
                        + (holders.isEmpty ? "" : ": " + holders.map(\.description).joined(separator: "; ")))
            }
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(20)) }
            running = stillRunning
        }
    }

    private var stillRunning: [String] {
        logs.filter(\.isInUse).map(\.name)
    }
}

extension StateLock {
    /// Takes the lock that excludes a second `msi up`, a migration or a restore in the same state directory.
    ///
    /// - Parameter finishesRestore: Whether the caller finishes a restore that was interrupted. Everything else waits for that.
    /// - Throws: ``StateLockFailure``.
    static func control(of directory: String, finishesRestore: Bool = false) throws -> StateLock {
        let lock = try StateLock(
            .control, .alone, in: directory,
            orElse: "another msi is at work with the state directory \(directory); "
                + "stop it, or give this one its own by MSI_STATE_DIR, MSI_GATEWAY_PORT and MSI_FCM_EMULATOR_PORT")
        do {
            if !finishesRestore { try requireNoUnfinishedRestore(in: directory) }
        } catch {
            lock.release()
            throw error
        }
        return lock
    }
}
