package import Foundation
import Glibc
import Synchronization

/// A program that a test runs. Its output goes to a file.
///
/// Its standard input is a pipe from the test process. The pipe ends when the test process ends, even if it is killed.
package final class ChildProcess: Sendable {
    package let identifier: Int32
    /// The path of the file with its output.
    package let logFile: String
    private let process: Process
    private let lifeline: Pipe
    private let exit: Task<Int32, Never>
    /// Held during a start. Foundation learns of a program's end from a socket that only the program has open. A program that
    /// another thread starts at the same moment can inherit that socket. The end would then only be noticed when both have ended.
    /// The same goes for the end of the standard input.
    private static let start = Mutex(())

    /// The program has ended or takes too long.
    package struct Silent: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - environment: The complete environment.
    ///   - logFile: The file for its standard output and standard error, which is recreated.
    package init(_ executable: URL, _ arguments: [String] = [], environment: [String: String], logFile: String) throws {
        self.logFile = logFile
        try Data().write(to: URL(filePath: logFile))
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        let log = FileHandle(forWritingAtPath: logFile)
        process.standardOutput = log
        process.standardError = log
        let (exited, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            let status = process.terminationStatus
            continuation.yield(process.terminationReason == .uncaughtSignal ? 128 + status : status)
            continuation.finish()
        }
        lifeline = try Self.start.withLock { _ in
            let lifeline = Pipe()
            process.standardInput = lifeline
            try process.run()
            return lifeline
        }
        self.process = process
        identifier = process.processIdentifier
        exit = Task {
            for await status in exited { return status }
            return -1
        }
    }

    package var isRunning: Bool { process.isRunning }

    /// Whether all of its threads are stopped by a signal: the state `T` of proc(5), after the name in parentheses.
    package var hasStopped: Bool {
        get throws {
            let tasks = "/proc/\(identifier)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
                let stat = try String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
                return stat.split(separator: ")").last?.hasPrefix(" T") == true
            }
        }
    }

    /// Its output so far.
    package var log: String {
        FileManager.default.contents(atPath: logFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits until its output contains a match. The program is killed on a timeout or a cancellation.
    package func waitForLog<Found>(within limit: Duration = .seconds(30), _ find: (String) -> Found?) async throws -> Found {
        let deadline = ContinuousClock.now + limit
        while true {
            let isRunning = isRunning
            if let found = find(log) { return found }
            guard isRunning, ContinuousClock.now < deadline else {
                await kill()
                throw Silent(description: "\(process.executableURL?.lastPathComponent ?? "it") has said only: \(log)")
            }
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                await kill()
                throw error
            }
        }
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
        try lifeline.fileHandleForWriting.close()
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit status; for a process that a signal ended, 128 plus the signal's number.
    package func end() async -> Int32 {
        await exit.value
    }

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) {
        if process.isRunning { Glibc.kill(identifier, signal) }
    }
}
