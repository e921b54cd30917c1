package import Foundation

/// A service as a process, for tests that need a process, for example to kill it.
///
/// It runs with `MSI_SUPERVISED`, so it ends with the test process, even if that is killed.
package final class ServiceProcess: Sendable {
    package let name: String
    /// The process itself.
    package let child: ChildProcess

    /// The service ended before it was ready, or took too long.
    package struct StartFailed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - name: The executable's name.
    ///   - folder: Its state directory; its sockets are in `run` there.
    ///   - settings: Further settings, such as `MSI_GATEWAY_PORT`.
    ///   - executables: The folder of its executable.
    ///   - logFile: The path of a new file for its standard error; by default one in `folder`.
    ///   - readyTimeout: The maximum wait for it to be ready. A service waits for its database.
    /// - Throws: ``StartFailed``.
    package init(
        _ name: String, in folder: String, settings: [String: String] = [:], executables: URL = executables,
        logFile: String? = nil, readyTimeout: Duration = .seconds(120)
    ) async throws {
        self.name = name
        let environment = settings.merging(
            ["MSI_STATE_DIR": folder, "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no"]
        ) { given, _ in given }
        child = try await ChildProcess(
            executables.appending(path: name), environment: environment,
            logFile: logFile ?? "\(folder)/\(name)-\(UInt32.random(in: 0...UInt32.max)).log")
        do {
            try await child.waitForLog(within: readyTimeout) { $0.contains("\"message\":\"ready\"") ? () : nil }
        } catch {
            throw StartFailed(description: "\(name) did not become ready: \(error)")
        }
    }

    package var identifier: Int32 { child.identifier }

    /// The port that it listens on: that of the first local `http` or `https` address in its log.
    ///
    /// - Throws: ``StartFailed`` if there is none.
    package var port: Int {
        get throws {
            guard let port = log.firstMatch(of: /https?:\/\/127\.0\.0\.1:(\d+)/).flatMap({ Int($0.1) }) else {
                throw StartFailed(description: "\(name) did not log its port: \(log)")
            }
            return port
        }
    }

    package var isRunning: Bool { child.isRunning }

    /// The path of the file with its standard error.
    package var logFile: String { child.logFile }

    /// Its standard error so far.
    package var log: String { child.log }

    /// Sends SIGTERM and waits for the end.
    ///
    /// - Returns: The exit status, as from ``end()``.
    @discardableResult
    package func stop() async -> Int32 { await child.stop() }

    /// Sends SIGKILL and waits for the end.
    package func kill() async { await child.kill() }

    /// Waits for its end.
    ///
    /// - Returns: The exit status, as from ``ChildProcess/end()``.
    package func end() async -> Int32 { await child.end() }

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) { child.signal(signal) }

    /// The folder of the built products, which is that of the test bundle.
    package static var executables: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
