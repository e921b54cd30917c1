import Glibc
import ProductHarness
import Synchronization
import TestSupport

/// One process of the product: started, started again whenever it has ended, and harmed as the schedule says.
final class RunningPart: Sendable {
    private struct State {
        var process: ChildProcess?
        var logFiles: [String] = []
        var disturbances: [Disturbance] = []
        var failedStarts: [FailedStart] = []
        var problems: [String] = []
    }

    /// A start that did not succeed.
    struct FailedStart: Hashable, Sendable {
        let part: Part
        /// Unix milliseconds.
        let at: Int64
        let logFile: String
    }

    let part: Part
    private let folder: String
    private let port: Int?
    private let settings: [String: String]
    private let journal: Journal
    private let state = Mutex(State())

    /// How long a process may take to stop when it is asked to.
    private static let longestStop = Duration.seconds(25)
    /// For how long a start that fails is tried again.
    private static let longestStart = Duration.seconds(60)

    /// - Parameters:
    ///   - port: Where the database listens.
    ///   - settings: The service's.
    init(_ part: Part, in folder: String, port: Int?, settings: [String: String], journal: Journal) {
        self.part = part
        self.folder = folder
        self.port = port
        self.settings = settings
        self.journal = journal
    }

    var disturbances: [Disturbance] { state.withLock(\.disturbances) }
    var failedStarts: [FailedStart] { state.withLock(\.failedStarts) }
    /// What it did by itself that it must not do.
    var problems: [String] { state.withLock(\.problems) }
    /// What it has written to standard error, a file for each start.
    var logFiles: [String] { state.withLock(\.logFiles) }

    /// Starts it, and returns once it is ready.
    func start() async throws {
        let deadline = ContinuousClock.now + Self.longestStart
        while true {
            let logFile = state.withLock { state in
                state.logFiles.append("\(folder)/log/\(part.rawValue)-\(state.logFiles.count + 1).log")
                return state.logFiles[state.logFiles.count - 1]
            }
            do {
                let process = try await launch(logFile: logFile)
                return state.withLock { $0.process = process }
            } catch let failure where failure is ServiceProcess.StartFailed || failure is ChildProcess.Silent {
                guard ContinuousClock.now < deadline else { throw failure }
                journal.say("\(part.rawValue) did not start, see \(logFile)")
                let failed = FailedStart(part: part, at: .nowInMilliseconds, logFile: logFile)
                state.withLock { $0.failedStarts.append(failed) }
                // As whoever supervises it does.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func launch(logFile: String) async throws -> ChildProcess {
        if let executable = part.executable {
            return try await ServiceProcess(executable, in: folder, settings: settings, logFile: logFile).child
        }
        let server = try await PythonScript.start(
            "mongodb_server.py",
            [
                "--host", "127.0.0.1", "--port", String(port ?? 0), "--storage-path", folder + "/mongodb", "--sync-on-commit",
            ], logFile: logFile)
        try await server.waitForLog { $0.contains("listening on 127.0.0.1:") ? () : nil }
        return server
    }

    /// Harms it, fault after fault, and sees to it that it runs in between.
    ///
    /// - Parameter begin: The moment from which the faults count.
    func suffer(_ faults: [Fault], from begin: ContinuousClock.Instant) async throws {
        for fault in faults {
            try await stayWell(until: begin + fault.at)
            let began = Int64.nowInMilliseconds
            switch fault.deed {
            case .kill: try await kill(for: fault.length)
            case .freeze: try await freeze(for: fault.length)
            case .restart: try await restart(after: fault.length)
            }
            let disturbance = Disturbance(part: part, deed: fault.deed, began: began, ended: .nowInMilliseconds)
            state.withLock { $0.disturbances.append(disturbance) }
        }
    }

    /// Waits, and starts it again when it ends by itself.
    func stayWell(until moment: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < moment {
            let end = min(moment, .now + .milliseconds(50))
            try await Task.sleep(until: end, clock: .continuous)
            try await mend()
        }
    }

    /// Starts it again if it has ended by itself.
    func mend() async throws {
        guard let process = state.withLock(\.process), !process.isRunning else { return }
        complain("ended by itself with status \(await process.end()), see \(process.logFile)")
        try await start()
    }

    /// Stops it as an operator would.
    func stop() async {
        guard let process = state.withLock(\.process) else { return }
        process.signal(SIGTERM)
        do {
            try await eventually("its end", within: Self.longestStop) { !process.isRunning }
        } catch {
            complain("did not stop within \(Self.longestStop.inSeconds), see \(process.logFile)")
            await process.kill()
        }
        let status = await process.end()
        if status != 0 { complain("ended with status \(status) when it was stopped, see \(process.logFile)") }
        state.withLock { $0.process = nil }
    }

    /// Ends it at once, however it is.
    func end() async {
        await state.withLock(\.process)?.kill()
    }

    private func kill(for length: Duration) async throws {
        journal.say("\(part.rawValue) is killed, for \(length.inSeconds)")
        await state.withLock(\.process)?.kill()
        try await Task.sleep(for: length)
        try await start()
    }

    private func freeze(for length: Duration) async throws {
        journal.say("\(part.rawValue) is frozen, for \(length.inSeconds)")
        let process = state.withLock(\.process)
        process?.signal(SIGSTOP)
        try await Task.sleep(for: length)
        process?.signal(SIGCONT)
    }

    private func restart(after length: Duration) async throws {
        journal.say("\(part.rawValue) is restarted, away for \(length.inSeconds)")
        await stop()
        try await Task.sleep(for: length)
        try await start()
    }

    private func complain(_ what: String) {
        journal.say("\(part.rawValue) \(what)")
        state.withLock { $0.problems.append("\(part.rawValue) \(what)") }
    }
}
