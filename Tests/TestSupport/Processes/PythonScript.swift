import Foundation

/// Runs the scripts in `Tests/Python`.
package enum PythonScript {
    /// The script ended with a status other than 0.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Python")
    /// How much the scripts check: `all` with `deploy/test --all`.
    private static let level = ProcessInfo.processInfo.environment["TEST_LEVEL"] ?? ""
    private static let interpreter = Task { try await findInterpreter() }

    /// Runs a script to its end.
    ///
    /// - Returns: The script's output.
    /// - Throws: ``Failed`` with the script's output if it ended with a status other than 0.
    package static func run(_ name: String, _ arguments: [String] = []) async throws -> String {
        try await withTemporaryFolder { folder in
            let child = try await start(name, arguments, logFile: folder + "/output")
            let status = await child.end()
            guard status == 0 else { throw Failed(description: "\(name) ended with \(status): \(child.log)") }
            return child.log
        }
    }

    /// Starts a script.
    package static func start(_ name: String, _ arguments: [String] = [], logFile: String) async throws -> ChildProcess {
        try await ChildProcess(
            try await interpreter.value, [folder.appending(path: name).path(percentEncoded: false)] + arguments,
            environment: ["PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "TEST_LEVEL": level], logFile: logFile)
    }

    /// Finds the Python environment. `deploy/test` has made it; otherwise it is made here, once.
    private static func findInterpreter() async throws -> URL {
        try await withTemporaryFolder { logs in
            let child = try await ChildProcess(
                folder.appending(path: "environment"), environment: ProcessInfo.processInfo.environment, logFile: logs + "/log")
            let status = await child.end()
            guard status == 0, let path = child.log.split(separator: "\n").last else {
                throw Failed(description: "Tests/Python/environment ended with \(status): \(child.log)")
            }
            return URL(filePath: String(path))
        }
    }
}
