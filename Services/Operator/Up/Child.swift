import FoundationEssentials
import ServiceKit
import ServiceLifecycle
import Subprocess
import Synchronization
import SystemPackage

/// One process of the stack: started, started again whenever it ends, and stopped at the end.
final class Child: Sendable {
    private struct State {
        var isStopping = false
        /// From just before a start to the end of the process.
        var isRunning = false
        /// Sends a signal to the process that is running.
        var signal: (@Sendable (Signal) -> Void)?
        /// How the first start went, once that is known.
        var start: Result<Void, StartFailure>?
        /// Waits for that.
        var waiting: CheckedContinuation<Void, any Error>?
    }

    let name: String
    private let executable: FilePath
    private let process: Stack.Process
    let log: LogFile
    private let lifeline: Lifeline
    private let say: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(
        _ process: Stack.Process, in stack: Stack, lifeline: Lifeline, say: @escaping @Sendable (String) -> Void
    ) throws {
        name = process.name
        executable = FilePath(stack.executables.appending(path: process.name).path(percentEncoded: false))
        self.process = process
        log = try LogFile(directory: stack.logDirectory, name: process.name)
        self.lifeline = lifeline
        self.say = say
    }

    /// Runs the process until ``stop()``, or until it turns out that it cannot be started at all.
    func run() async {
        var policy = RestartPolicy()
        while !state.withLock(\.isStopping) {
            let began = ContinuousClock.now
            let alreadyLogged = log.size
            let ending = await runOnce()
            let (isStopping, start) = state.withLock { ($0.isStopping, $0.start) }
            if isStopping { return }
            guard case .success = start else {
                let lastWords = log.tail(3, after: alreadyLogged).joined(separator: "\n")
                return settleStart(
                    .failure(StartFailure(description: "\(name) did not start: \(ending). \(log.path) ends:\n\(lastWords)")))
            }
            let delay = policy.delay(afterRunOf: .now - began)
            say("\(name) ended (\(ending)); starting it again in \(delay.formatted)")
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: delay) }
            } catch {
                return
            }
        }
    }

    /// Returns once the process has been ready for the first time.
    ///
    /// - Throws: ``StartFailure`` when it ended before, `CancellationError` when the task is cancelled.
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

    /// Ends the process: politely, and after a while not.
    func stop() async {
        let signal = state.withLock { state in
            state.isStopping = true
            return state.signal
        }
        // Where there is no signal yet but a start is under way, that sends it.
        signal?(.terminate)
        if await !hasEnded(within: DeliveryTimes.supervisorStopTimeout) {
            say("\(name) does not stop; killing it")
            state.withLock(\.signal)?(.kill)
            _ = await hasEnded(within: .seconds(5))
        }
    }

    private func hasEnded(within time: Duration) async -> Bool {
        let deadline = ContinuousClock.now + time
        while state.withLock(\.isRunning) {
            guard ContinuousClock.now < deadline else { return false }
            // A cancelled task still has to wait for the process.
            await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return true
    }

    /// Runs the process once, and says how that ended.
    private func runOnce() async -> String {
        let mayStart = state.withLock { state in
            state.isRunning = !state.isStopping
            return state.isRunning
        }
        guard mayStart else { return "stopped" }
        defer {
            state.withLock { state in
                state.isRunning = false
                state.signal = nil
            }
        }
        do {
            let socket = try NotifySocket(for: name)
            defer { socket.close() }
            let output = try log.open()
            // Only the child writes to it.
            defer { try? output.close() }
            return "\(try await spawn(notify: socket, output: output))"
        } catch {
            return "it cannot be run: \(error)"
        }
    }

    private func spawn(notify: NotifySocket, output: FileDescriptor) async throws -> TerminationStatus {
        var options = PlatformOptions()
        // A group of its own: the terminal's Ctrl-C is for the supervisor alone, which stops its children in order.
        options.processGroupID = 0
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: DeliveryTimes.supervisorStopTimeout)]
        var variables = process.environment
        variables["NOTIFY_SOCKET"] = .some(notify.name)
        let result = try await Subprocess.run(
            .path(executable),
            environment: .inherit.updating(
                Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
            platformOptions: options,
            input: .fileDescriptor(lifeline.end, closeAfterSpawningProcess: false),
            output: .fileDescriptor(output, closeAfterSpawningProcess: false),
            error: .fileDescriptor(output, closeAfterSpawningProcess: false)
        ) { execution in
            try notify.listen(to: execution.processIdentifier.value) { self.settleStart(.success(())) }
            let signal: @Sendable (Signal) -> Void = { signal in
                // It fails only for a process that has ended already.
                try? execution.send(signal: signal)
            }
            let mustStop = state.withLock { state in
                state.signal = signal
                return state.isStopping
            }
            if mustStop { signal(.terminate) }
        }
        return result.terminationStatus
    }

    /// Tells whoever waits, now or later, how the first start went.
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
