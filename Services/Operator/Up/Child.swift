import FoundationEssentials
import ServiceLifecycle
import Subprocess
import Synchronization
import SystemPackage

/// One process of the stack: started, started again whenever it ends, and stopped at the end.
final class Child: Sendable {
    private struct State {
        var isStopping = false
        /// Sends a signal to the process that is running.
        var signal: (@Sendable (Signal) -> Void)?
        /// Waits for the process to be ready for the first time.
        var firstReady: CheckedContinuation<Void, any Error>?
        var wasReady = false
    }

    let name: String
    private let executable: FilePath
    private let environment: [String: String]
    let log: LogFile
    private let lifeline: Lifeline
    private let say: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(
        _ process: Stack.Process, in stack: Stack, lifeline: Lifeline, say: @escaping @Sendable (String) -> Void
    ) throws {
        name = process.name
        executable = FilePath(stack.executables.appending(path: process.name).path())
        environment = process.environment
        log = try LogFile(directory: stack.logDirectory, name: process.name)
        self.lifeline = lifeline
        self.say = say
    }

    /// Runs the process until ``stop()``.
    ///
    /// - Throws: ``StartFailure`` when it ends before it was ready for the first time.
    func run() async throws {
        let socket = try NotifySocket(for: name) { self.settleStart(.success(())) }
        defer {
            socket.close()
            settleStart(.failure(CancellationError()))
        }
        var policy = RestartPolicy()
        while !state.withLock(\.isStopping) {
            let began = ContinuousClock.now
            let ending = try await runOnce(notify: socket.name)
            let (isStopping, wasReady) = state.withLock { ($0.isStopping, $0.wasReady) }
            if isStopping { return }
            guard wasReady else {
                let lastWords = log.tail(3).joined(separator: "\n")
                let failure = StartFailure(
                    description: "\(name) did not start (\(ending)). The end of \(log.path):\n\(lastWords)")
                settleStart(.failure(failure))
                throw failure
            }
            let delay = policy.delay(afterRunOf: .now - began)
            say("\(name) ended (\(ending)); starting it again in \(delay.formatted)")
            do {
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: delay) }
            } catch is CancellationError {
                return
            }
        }
    }

    /// Returns once the process has been ready for the first time.
    func whenReady() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.wasReady { state.firstReady = continuation }
                    return state.wasReady
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            settleStart(.failure(CancellationError()))
        }
    }

    /// Ends the process: politely, and after a while not.
    func stop() async {
        let signal = state.withLock { state in
            state.isStopping = true
            return state.signal
        }
        guard let signal else { return }
        signal(.terminate)
        if await !hasEnded(within: .seconds(20)) {
            say("\(name) does not stop; killing it")
            signal(.kill)
            _ = await hasEnded(within: .seconds(5))
        }
    }

    private func hasEnded(within time: Duration) async -> Bool {
        let deadline = ContinuousClock.now + time
        while state.withLock({ $0.signal != nil }) {
            guard ContinuousClock.now < deadline else { return false }
            // A cancelled task still has to wait for the process.
            await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return true
    }

    /// Runs the process once, and says how it ended.
    private func runOnce(notify: String) async throws -> String {
        let output = try log.open()
        defer { try? output.close() }
        var options = PlatformOptions()
        // A group of its own: the terminal's Ctrl-C is for the supervisor alone, which stops its children in order.
        options.processGroupID = 0
        var variables = environment
        variables["NOTIFY_SOCKET"] = notify
        let result = try await Subprocess.run(
            .path(executable),
            environment: .inherit.updating(
                Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
            platformOptions: options,
            input: .fileDescriptor(lifeline.end, closeAfterSpawningProcess: false),
            output: .fileDescriptor(output, closeAfterSpawningProcess: false),
            error: .fileDescriptor(output, closeAfterSpawningProcess: false)
        ) { execution in
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
        state.withLock { $0.signal = nil }
        return "\(result.terminationStatus)"
    }

    /// Tells whoever waits for the first start how it went.
    private func settleStart(_ outcome: Result<Void, any Error>) {
        let waiting = state.withLock { state in
            if case .success = outcome { state.wasReady = true }
            defer { state.firstReady = nil }
            return state.firstReady
        }
        waiting?.resume(with: outcome)
    }
}
