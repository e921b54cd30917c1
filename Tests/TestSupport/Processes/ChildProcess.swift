package import Foundation
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// A program that a test runs. Its output goes to a file.
///
/// Its standard input is a pipe from the test process. The pipe ends when the test process ends, even if it is killed. The program has
/// no other open file of the test process.
package final class ChildProcess: Sendable {
    package let identifier: Int32
    /// The path of the file with its output.
    package let logFile: String
    private let name: String
    private let exit: Task<Int32, Never>
    private let state: State

    /// Kept by the task that waits for the end. So the program also runs on if the test has dropped this.
    private final class State: Sendable {
        let isRunning = Atomic(true)
        /// 0 before the program has started.
        let identifier = Atomic<Int32>(0)
        /// The writing end of the standard input; `nil` once it is closed.
        private let lifeline: Mutex<FileDescriptor?>

        init(lifeline: FileDescriptor) {
            self.lifeline = Mutex(lifeline)
        }

        func endInput() throws {
            try lifeline.withLock { lifeline in
                try lifeline?.close()
                lifeline = nil
            }
        }

        /// Kills the program and waits for its end, if it still runs although nothing waits for it any more.
        func killIfLeft() async {
            let child = identifier.load(ordering: .sequentiallyConsistent)
            // waitpid(2) fails once the end has been waited for: the identifier may be another process's by then.
            while child != 0, waitpid(child, nil, WNOHANG) == 0 {
                _ = Glibc.kill(child, SIGKILL)
                // This task is not cancelled.
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        func hasEnded() {
            isRunning.store(false, ordering: .sequentiallyConsistent)
            // Nothing was written to it.
            try? endInput()
        }
    }

    /// The program has ended or takes too long.
    package struct Silent: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - environment: The complete environment.
    ///   - logFile: The file for its standard output and standard error, which is recreated.
    /// - Throws: An error of Subprocess if the program cannot be started.
    package init(_ executable: URL, _ arguments: [String] = [], environment: [String: String], logFile: String) async throws {
        self.logFile = logFile
        name = executable.lastPathComponent
        let log = try FileDescriptor.open(
            FilePath(logFile), .writeOnly, options: [.create, .truncate, .append, .closeOnExec],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
        defer { try? log.close() }
        let input = try FileDescriptor.pipe(options: .closeOnExec)
        defer { try? input.readEnd.close() }
        let state = State(lifeline: input.writeEnd)
        self.state = state
        let path = FilePath(executable.path(percentEncoded: false))
        let variables = Environment.custom(
            Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) }))

        let (starts, start) = AsyncThrowingStream<Int32, any Error>.makeStream()
        exit = Task {
            do {
                let result = try await Subprocess.run(
                    .path(path), arguments: Arguments(arguments), environment: variables,
                    input: .fileDescriptor(input.readEnd, closeAfterSpawningProcess: false),
                    output: .fileDescriptor(log, closeAfterSpawningProcess: false),
                    error: .fileDescriptor(log, closeAfterSpawningProcess: false)
                ) { execution in
                    state.identifier.store(execution.processIdentifier.value, ordering: .sequentiallyConsistent)
                    start.yield(execution.processIdentifier.value)
                    start.finish()
                }
                state.hasEnded()
                return switch result.terminationStatus {
                case .exited(let status): status
                case .signaled(let signal): 128 + signal
                }
            } catch {
                await state.killIfLeft()
                // A test that fails for it shows the output.
                if let log = try? FileDescriptor.open(FilePath(logFile), .writeOnly, options: .append) {
                    _ = try? log.closeAfter { try log.writeAll("the test cannot wait for the program's end: \(error)\n".utf8) }
                }
                state.hasEnded()
                start.finish(throwing: error)
                return -1
            }
        }
        // The task is not cancelled with this one, so the stream has an element or an error. A cancelled task would get neither.
        let started = await Task { () async throws in
            for try await started in starts { return started }
            throw Silent(description: "\(path) did not start")
        }.result
        identifier = try started.get()
    }

    package var isRunning: Bool { state.isRunning.load(ordering: .sequentiallyConsistent) }

    /// Whether all of its threads are stopped by a signal.
    package var hasStopped: Bool {
        get throws { try ProcessTable.hasStopped(identifier) }
    }

    /// Its output so far.
    package var log: String {
        FileManager.default.contents(atPath: logFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits until its output contains a match. The program is killed on a timeout or a cancellation.
    package func waitForLog<Found>(within limit: Duration = .seconds(120), _ find: (String) -> Found?) async throws -> Found {
        let deadline = ContinuousClock.now + limit
        while true {
            let isRunning = isRunning
            if let found = find(log) { return found }
            guard isRunning, ContinuousClock.now < deadline else {
                await kill()
                throw Silent(description: "\(name) ended with status \(await end()), \(lastWords)")
            }
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                await kill()
                throw error
            }
        }
    }

    /// What it has said, in one line for a summary of failures. Its last line, the reason of most ends, comes first.
    private var lastWords: String {
        let lines = log.split(whereSeparator: \.isNewline)
        guard let last = lines.last else { return "and has said nothing" }
        return "and has said last: \(last) ⏎ after all of this: \(lines.joined(separator: " ⏎ "))"
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// - Returns: The exit status, as from ``end()``.
    @discardableResult
    package func stop() async -> Int32 {
        signal(SIGTERM)
        return await exit.value
    }

    /// Sends SIGKILL and waits for the end.
    package func kill() async {
        signal(SIGKILL)
        _ = await exit.value
    }

    /// Closes its standard input, as if its parent had ended.
    package func endInput() throws {
        try state.endInput()
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit status; for a process that a signal ended, 128 plus the signal's number.
    package func end() async -> Int32 {
        await exit.value
    }

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) {
        // Not by Subprocess, whose descriptor of an ended process may be that of another test's process by now. An identifier is not
        // used again so soon.
        if isRunning { _ = Glibc.kill(identifier, signal) }
    }
}
