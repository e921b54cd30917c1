package import Foundation
import Glibc

/// A programme that a test runs, with what it writes in a file.
///
/// Its standard input is a pipe of the test's, whose end tells it that the test's process has ended, however that came.
package final class ChildProcess: Sendable {
    package let identifier: Int32
    /// The path of the file that holds what it writes.
    package let logFile: String
    private let process: Process
    private let lifeline = Pipe()
    private let exit: Task<Int32, Never>

    /// It has ended, or takes too long.
    package struct Silent: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - environment: All of it.
    ///   - logFile: Where its standard output and standard error go; made anew.
    package init(_ executable: URL, _ arguments: [String] = [], environment: [String: String], logFile: String) throws {
        self.logFile = logFile
        try Data().write(to: URL(filePath: logFile))
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.standardInput = lifeline
        let log = FileHandle(forWritingAtPath: logFile)
        process.standardOutput = log
        process.standardError = log
        let (exited, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            let status = process.terminationStatus
            continuation.yield(process.terminationReason == .uncaughtSignal ? 128 + status : status)
            continuation.finish()
        }
        try process.run()
        self.process = process
        identifier = process.processIdentifier
        exit = Task {
            for await status in exited { return status }
            return -1
        }
    }

    package var isRunning: Bool { process.isRunning }

    /// Whether every thread of it has been stopped by a signal: the state `T` of proc(5), after the name in brackets.
    package var hasStopped: Bool {
        get throws {
            let tasks = "/proc/\(identifier)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
                let stat = try String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
                return stat.split(separator: ")").last?.hasPrefix(" T") == true
            }
        }
    }

    /// What it has written so far.
    package var log: String {
        FileManager.default.contents(atPath: logFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits until it has written what is looked for; it is killed if that does not come, or nobody waits for it any more.
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

    /// Stops it as an operator would, and waits until it is gone.
    ///
    /// - Returns: As ``end()`` does.
    @discardableResult
    package func stop() async -> Int32 {
        signal(SIGTERM)
        return await exit.value
    }

    /// Ends it at once, with whatever it is doing, and waits until it is gone.
    package func kill() async {
        signal(SIGKILL)
        _ = await exit.value
    }

    /// Ends its standard input, as the end of the process that started it does.
    package func endInput() throws {
        try lifeline.fileHandleForWriting.close()
    }

    /// Waits until it has ended by itself.
    ///
    /// - Returns: The exit status; of a process that a signal ended, 128 and the signal's number.
    package func end() async -> Int32 {
        await exit.value
    }

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) {
        if process.isRunning { Glibc.kill(identifier, signal) }
    }
}
