import FoundationEssentials
import ServiceKit
import ServiceLifecycle
import Subprocess
import Synchronization
import SystemPackage

/// One process of the stack. It is started, restarted whenever it ends, and stopped at the end.
final class Child: Sendable {
    private struct State {
        var isStopping = false
        /// Whether the process is starting or running.
        var isRunning = false
        /// Whether the running process has reported that it is ready.
        var isReady = false
        /// Whether a reload waits until the process is ready.
        var mustReload = false
        /// Gets the report of a reload.
        var onReload: (@Sendable (ReloadReport) -> Void)?
        /// The text in the status file; `nil` if it is not known.
        var status: String?
        /// Sends a signal to the running process.
        var signal: (@Sendable (Signal) -> Void)?
        /// The result of the first start, once it is known.
        var start: Result<Void, StartFailure>?
        /// Waits for the result of the first start.
        var waiting: CheckedContinuation<Void, any Error>?
    }

    /// How long a stop may take before the operator is told what it waits for.
    private static let silentStop = Duration.seconds(3)

    let service: ServiceEntry
    private let executable: FilePath
    private let process: Stack.Process
    let log: LogFile
    private let statusFile: StatusFile
    private let pipe: SupervisionPipe
    private let say: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(
        _ process: Stack.Process, in stack: Stack, pipe: SupervisionPipe, say: @escaping @Sendable (String) -> Void
    ) throws {
        service = process.service
        executable = FilePath(stack.executables.appending(path: service.executable).path(percentEncoded: false))
        self.process = process
        log = try LogFile(directory: stack.logDirectory, name: process.service.executable)
        statusFile = StatusFile(of: process.service, in: stack.logDirectory)
        // The file may be left from an earlier start.
        statusFile.remove()
        self.pipe = pipe
        self.say = say
    }

    /// Whether the process is starting or running.
    var isRunning: Bool { state.withLock(\.isRunning) }

    /// The executable's name.
    var name: String { service.executable }

    /// Runs the process until ``stop()``, or until its first start fails.
    func run() async {
        var policy = RestartPolicy()
        var report = EndReport(name: name)
        while !state.withLock(\.isStopping) {
            let began = ContinuousClock.now
            let alreadyLogged = log.size
            let (ending, bySignal) = await runOnce()
            let (isStopping, start) = state.withLock { ($0.isStopping, $0.start) }
            if isStopping { return }
            let reason = log.ending(after: alreadyLogged, bySignal: bySignal)
            ended("it \(ending)" + (reason.map { ". Its log: \($0)" } ?? ""))
            guard case .success = start else {
                let lastWords = log.readableTail(3, after: alreadyLogged).map { "\n  " + $0 }.joined()
                return settleStart(
                    .failure(
                        StartFailure(
                            description: "\(name) did not start: it \(ending). \(log.path) "
                                + (lastWords.isEmpty ? "has no line about it" : "ends:\(lastWords)"))))
            }
            let length = .now - began
            let delay = policy.delay(afterRunOf: length)
            say(report.line(ending, afterRunOf: length, delay: delay, reason: reason))
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: delay) }
            } catch {
                return
            }
        }
    }

    /// Returns once the process has been ready for the first time.
    ///
    /// - Throws: ``StartFailure`` if it ended before, `CancellationError` if the task is cancelled.
    func whenReady() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<Void, any Error>? = state.withLock { state in
                    if let start = state.start { return start.mapError { $0 } }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting = continuation
                    return nil
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            takeWaiting()?.resume(throwing: CancellationError())
        }
    }

    /// Makes the process read its settings again, at once or when it is ready: before it has prepared for the signal, the signal would
    /// end it.
    ///
    /// - Parameter report: Gets the outcome. It is not called if the process ends first.
    func reload(_ report: @escaping @Sendable (ReloadReport) -> Void) {
        let signal = state.withLock { state in
            state.onReload = report
            state.mustReload = !state.isReady
            return state.isReady ? state.signal : nil
        }
        signal?(.terminalClosed)
    }

    private func reloaded(_ report: ReloadReport) {
        let onReload = state.withLock { state in
            defer { state.onReload = nil }
            return state.onReload
        }
        onReload?(report)
    }

    /// The running process has reported a status. It reports one after each self-check.
    private func told(_ status: String) {
        state.withLock { state in
            if state.isRunning { note(status, &state) }
        }
    }

    private func ended(_ end: String) {
        state.withLock { note(StatusFile.text(ofEnd: end), &$0) }
    }

    /// Writes a new status, in the order of the changes.
    private func note(_ status: String, _ state: inout State) {
        guard state.status != status else { return }
        state.status = statusFile.write(status) ? status : nil
    }

    private func becameReady() {
        let signal = state.withLock { state in
            defer { state.mustReload = false }
            state.isReady = true
            return state.mustReload ? state.signal : nil
        }
        signal?(.terminalClosed)
        settleStart(.success(()))
    }

    /// Lets the process continue if a signal has stopped it. Until then it gets no other signal than SIGKILL.
    func resume() {
        state.withLock(\.signal)?(.resume)
    }

    /// Ends the process with SIGTERM, and after a timeout with SIGKILL.
    func stop() async {
        let signal = state.withLock { state in
            state.isStopping = true
            return state.signal
        }
        // If the process is just starting, the start sends the signal.
        signal?(.terminate)
        signal?(.resume)
        if await hasEnded(within: Self.silentStop) { return }
        let rest = DeliveryTimes.supervisorStopTimeout - Self.silentStop
        say("waiting for \(name) to stop; if it takes \(rest.formatted) more, it is killed")
        if await !hasEnded(within: rest) {
            say("\(name) does not stop; killing it")
            state.withLock(\.signal)?(.kill)
            _ = await hasEnded(within: .seconds(5))
        }
    }

    private func hasEnded(within time: Duration) async -> Bool {
        let deadline = ContinuousClock.now + time
        while state.withLock(\.isRunning) {
            guard ContinuousClock.now < deadline else { return false }
            // A cancelled task must still wait for the process.
            await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return true
    }

    /// Runs the process once.
    ///
    /// - Returns: How it ended, for a sentence after its name, and whether a signal ended it.
    private func runOnce() async -> (ending: String, bySignal: Bool) {
        let mayStart = state.withLock { state in
            state.isRunning = !state.isStopping
            return state.isRunning
        }
        guard mayStart else { return ("was stopped", false) }
        defer {
            state.withLock { state in
                state.isRunning = false
                state.isReady = false
                state.signal = nil
            }
        }
        do {
            let socket = try NotifySocket(for: name)
            defer { socket.close() }
            let output = try log.open()
            // Only the child writes to the log.
            defer { try? output.close() }
            let status = try await spawn(notify: socket, output: output)
            return (status.text, status.isSignal)
        } catch {
            return ("cannot be run: \(error)", false)
        }
    }

    private func spawn(notify: NotifySocket, output: FileDescriptor) async throws -> TerminationStatus {
        var options = PlatformOptions()
        // In a separate process group: the terminal's Ctrl-C must reach only the supervisor, which stops its children in order.
        options.processGroupID = 0
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: DeliveryTimes.supervisorStopTimeout)]
        let result = try await Subprocess.run(
            .path(executable), environment: environment.updating(["NOTIFY_SOCKET": notify.name]),
            platformOptions: options,
            input: .fileDescriptor(pipe.readEnd, closeAfterSpawningProcess: false),
            output: .fileDescriptor(output, closeAfterSpawningProcess: false),
            error: .fileDescriptor(output, closeAfterSpawningProcess: false)
        ) { execution in
            let signal: @Sendable (Signal) -> Void = { signal in
                // This fails only if the process has ended already.
                try? execution.send(signal: signal)
            }
            let mustStop = state.withLock { state in
                state.signal = signal
                return state.isStopping
            }
            if mustStop { signal(.terminate) }
            // After the signal is known, which a reload needs as soon as the process is ready.
            try notify.listen(
                to: execution.processIdentifier.value, onReload: { self.reloaded($0) }, onStatus: { self.told($0) }
            ) { self.becameReady() }
        }
        return result.terminationStatus
    }

    private var environment: Environment {
        .inherit.updating(
            Dictionary(uniqueKeysWithValues: process.environment.map { (Environment.Key(stringLiteral: $0), $1) }))
    }

    /// Stores the result of the first start, and resumes the task that waits for it.
    private func settleStart(_ outcome: Result<Void, StartFailure>) {
        state.withLock { state in
            if state.start == nil { state.start = outcome }
        }
        takeWaiting()?.resume(with: outcome)
    }

    private func takeWaiting() -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
    }
}

/// The pipe that is every child's standard input. Only the supervisor has the write end. When the supervisor ends, even by
/// SIGKILL, the children read the end of their input and stop.
struct SupervisionPipe: Sendable {
    /// The read end for the children's standard input.
    let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor

    init() throws {
        let pipe = try FileDescriptor.pipe(options: [.closeOnExec])
        readEnd = pipe.readEnd
        writeEnd = pipe.writeEnd
    }

    func close() throws {
        try writeEnd.close()
        try readEnd.close()
    }
}
