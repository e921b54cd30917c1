import Glibc
import ServiceKit
import Synchronization
import TestSupport

/// One process of the product, which is restarted whenever it ends.
final class RunningPart: Sendable {
    private struct State {
        var process: ChildProcess?
        /// Whether it must not run, because the power is off.
        var isHeld = false
        /// Whether a fault of this process is in force.
        var isSuffering = false
        var version: ProductVersion
        /// How often it was changed to a version.
        var versionChanges: [ProductVersion: Int] = [:]
        var logFiles: [String] = []
        var injectedFaults: [InjectedFault] = []
        var failedStarts: [FailedStart] = []
        var problems: [String] = []
    }

    struct FailedStart: Hashable, Sendable {
        let part: Part
        /// Unix milliseconds.
        let at: Int64
        let logFile: String
    }

    let part: Part
    /// A relay's connection to FCM.
    let path: FCMPath?
    /// The files of its listening sockets.
    let sockets: [String]
    let journal: Journal
    private let folder: String
    private let port: Int?
    private let settings: [String: String]
    /// The other version, if it has this part.
    private let other: OtherVersion?
    private let state: Mutex<State>

    /// How long a process may take to stop: as long as the units of systemd allow (`TimeoutStopSec`).
    static let stopTimeout = Duration.seconds(60)
    /// How long a failing start is retried.
    private static let startTimeout = Duration.seconds(60)
    /// How long a process may take to be ready, even while its database is away or the machine is slow.
    private static let readyTimeout = Duration.seconds(300)
    /// How long one may wait for the end of a fault of another kind: a start, and the faults before it.
    private static let turnTimeout = Duration.seconds(600)

    /// - Parameters:
    ///   - port: The database's port.
    ///   - settings: The service's settings.
    ///   - other: The other version of a mixed run.
    ///   - first: The version with which it starts.
    init(
        _ part: Part, in folder: String, port: Int?, settings: [String: String], sockets: [String], path: FCMPath?,
        other: OtherVersion?, first: ProductVersion, journal: Journal
    ) {
        self.part = part
        self.folder = folder
        self.port = port
        self.settings = settings
        self.sockets = sockets
        self.path = path
        self.other = other
        state = Mutex(State(version: first))
        self.journal = journal
    }

    var injectedFaults: [InjectedFault] { state.withLock(\.injectedFaults) }
    var failedStarts: [FailedStart] { state.withLock(\.failedStarts) }
    /// Unexpected behaviour, such as an unexpected end.
    var problems: [String] { state.withLock(\.problems) }
    /// Its standard error, one file for each start.
    var logFiles: [String] { state.withLock(\.logFiles) }
    /// The version of its last start.
    var version: ProductVersion { state.withLock(\.version) }
    /// How often it was changed to a version: to the other one, and back.
    var versionChanges: [ProductVersion: Int] { state.withLock(\.versionChanges) }
    /// The running process.
    var process: ChildProcess? { state.withLock(\.process) }

    /// Starts it, and returns once it is ready.
    ///
    /// - Parameter changingVersion: Whether it is the executable of the version that did not run before, on the same state.
    func start(changingVersion: Bool = false) async throws {
        if changingVersion {
            state.withLock { state in
                state.version = state.version.opposite
                state.versionChanges[state.version, default: 0] += 1
            }
        }
        let deadline = ContinuousClock.now + Self.startTimeout
        while true {
            let logFile = state.withLock { state in
                let suffix = state.version == .other ? "-other" : ""
                state.logFiles.append("\(folder)/log/\(part.name)-\(state.logFiles.count + 1)\(suffix).log")
                return state.logFiles[state.logFiles.count - 1]
            }
            do {
                let process = try await launch(logFile: logFile)
                return state.withLock { state in
                    state.process = process
                    state.isHeld = false
                }
            } catch let failure where failure is ServiceProcess.StartFailed || failure is ChildProcess.Silent {
                guard ContinuousClock.now < deadline else { throw failure }
                journal.say("\(part.name) did not start, see \(logFile)")
                let failed = FailedStart(part: part, at: .nowInMilliseconds, logFile: logFile)
                state.withLock { $0.failedStarts.append(failed) }
                // Like its supervisor.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func launch(logFile: String) async throws -> ChildProcess {
        if let executable = part.service?.executable {
            let executables = version == .other ? other?.executables : nil
            return try await ServiceProcess(
                executable, in: folder, settings: settings, executables: executables ?? ServiceProcess.executables,
                logFile: logFile, readyTimeout: Self.readyTimeout
            ).child
        }
        let server = try await PythonScript.start(
            "mongodb_server.py",
            [
                "--host", "127.0.0.1", "--port", String(port ?? 0), "--storage-path", folder + "/mongodb", "--sync-on-commit",
            ], logFile: logFile)
        try await server.waitForLog(within: Self.readyTimeout) { $0.contains("listening on 127.0.0.1:") ? () : nil }
        return server
    }

    /// Waits, and restarts the process if it ends by itself.
    func keepRunning(until moment: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < moment {
            let end = min(moment, .now + .milliseconds(50))
            try await Task.sleep(until: end, clock: .continuous)
            try await mend()
        }
    }

    /// Restarts the process if it has ended by itself.
    func mend() async throws {
        let (process, isHeld) = state.withLock { ($0.process, $0.isHeld) }
        guard let process, !isHeld, !process.isRunning else { return }
        let status = await process.end()
        // The power may have been cut since.
        if state.withLock(\.isHeld) { return }
        complain("ended by itself with status \(status), see \(process.logFile)")
        try await start()
    }

    /// Stops it with SIGTERM.
    func stop() async {
        guard let process else { return }
        process.signal(SIGTERM)
        await finish(process)
        state.withLock { $0.process = nil }
    }

    /// Waits for the regular end of a process that is being stopped.
    func finish(_ process: ChildProcess) async {
        do {
            try await eventually("its end", within: Self.stopTimeout) { !process.isRunning }
        } catch {
            complain("did not stop within \(Self.stopTimeout.inSeconds), see \(process.logFile)")
            await process.kill()
        }
        let status = await process.end()
        if status != 0 { complain("ended with status \(status) when it was stopped, see \(process.logFile)") }
    }

    /// Kills it in any state.
    func end() async {
        await process?.kill()
    }

    /// Kills it, and keeps it from running until ``start()``. A current fault of this process ends first.
    func hold() async throws {
        try await eventually("an undisturbed \(part.name)", within: Self.turnTimeout) {
            state.withLock { state in
                if !state.isSuffering { state.isHeld = true }
                return state.isHeld
            }
        }
        await end()
    }

    /// Applies a fault; waits for it while the power is off.
    func inject(_ fault: () async throws -> Void) async throws {
        try await eventually("power for \(part.name)", within: Self.turnTimeout) {
            state.withLock { state in
                if !state.isHeld { state.isSuffering = true }
                return state.isSuffering
            }
        }
        defer { state.withLock { $0.isSuffering = false } }
        try await fault()
    }

    /// Records a fault.
    func note(_ injected: InjectedFault) {
        state.withLock { $0.injectedFaults.append(injected) }
    }

    func complain(_ what: String) {
        journal.say("\(part.name) \(what)")
        state.withLock { $0.problems.append("\(part.name) \(what)") }
    }
}
