package import Foundation

/// A built executable of the product, run from outside: for what only a process can do, such as dying.
///
/// It ends with the test's process, however that ends: the service is told that it is supervised.
package final class ServiceProcess: Sendable {
    package let name: String
    /// The process itself.
    package let child: ChildProcess

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
    ///   - logFile: The path of a new file for what it writes to standard error; one in `folder` where there is none.
    /// - Throws: ``StartFailed``.
    package init(_ name: String, in folder: String, settings: [String: String] = [:], logFile: String? = nil) async throws {
        self.name = name
        let environment = settings.merging(
            ["MSI_STATE_DIR": folder, "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no"]
        ) { given, _ in given }
        child = try ChildProcess(
            Self.executables.appending(path: name), environment: environment,
            logFile: logFile ?? "\(folder)/\(name)-\(UInt32.random(in: 0...UInt32.max)).log")
        do {
            try await child.waitForLog { $0.contains("\"message\":\"ready\"") ? () : nil }
        } catch {
            throw StartFailed(description: "\(name) did not become ready: \(error)")
        }
    }

    package var identifier: Int32 { child.identifier }

    /// The port of the first `http` or `https` address on this machine in its log: the one that it listens on.
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

    /// The path of the file that holds what it writes to standard error.
    package var logFile: String { child.logFile }

    /// What it has written to standard error so far.
    package var log: String { child.log }

    /// Stops it as an operator would, and waits until it is gone.
    ///
    /// - Returns: As ``end()`` does.
    @discardableResult
    package func stop() async -> Int32 { await child.stop() }

    /// Ends it at once, with whatever it is doing, and waits until it is gone.
    package func kill() async { await child.kill() }

    /// Waits for its end.
    ///
    /// - Returns: As ``ChildProcess/end()`` does.
    package func end() async -> Int32 { await child.end() }

    /// Sends a signal, unless the process has ended.
    package func signal(_ signal: Int32) { child.signal(signal) }

    /// Beside the test bundle, where the build puts all products.
    package static var executables: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
