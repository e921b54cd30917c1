package import Foundation
import Glibc

/// A built executable of the product, run from outside: for what only a process can do, such as dying.
///
/// It ends with the test's process, however that ends: the service is told that it is supervised, and its standard input is
/// a pipe of the test's.
package final class ServiceProcess: Sendable {
    package let name: String
    package let identifier: Int32
    private let logFile: String
    private let process: Process
    private let lifeline = Pipe()
    private let exit: Task<Int32, Never>

    /// It did not become ready: it ended before, or took too long.
    package struct StartFailed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - name: The executable's name.
    ///   - folder: Its state directory; its sockets are in `run` there.
    ///   - settings: Further settings, such as `MSI_GATEWAY_PORT`.
    package init(_ name: String, in folder: String, settings: [String: String] = [:]) async throws {
        self.name = name
        logFile = "\(folder)/\(name)-\(UInt32.random(in: 0...UInt32.max)).log"
        try Data().write(to: URL(filePath: logFile))
        let process = Process()
        process.executableURL = Self.executables.appending(path: name)
        process.environment = settings.merging(
            ["MSI_STATE_DIR": folder, "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no"]
        ) { given, _ in given }
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: logFile)
        let (exited, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        self.process = process
        identifier = process.processIdentifier
        exit = Task {
            for await status in exited { return status }
            return -1
        }
        try await waitUntilReady()
    }

    private func waitUntilReady() async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !log.contains("\"message\":\"ready\"") {
            guard process.isRunning, ContinuousClock.now < deadline else {
                await kill()
                throw StartFailed(description: "\(name) did not become ready: \(log)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    package var isRunning: Bool { process.isRunning }

    /// What it has written to standard error so far.
    package var log: String {
        FileManager.default.contents(atPath: logFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Stops it as an operator would, and waits until it is gone.
    ///
    /// - Returns: The exit status.
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

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) {
        if process.isRunning { Glibc.kill(identifier, signal) }
    }

    /// Beside the test bundle, where the build puts all products.
    package static var executables: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
