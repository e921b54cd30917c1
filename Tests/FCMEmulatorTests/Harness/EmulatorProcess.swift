import Foundation
import Glibc
import Synchronization

/// The built executable, run from outside: for what only a process can do, such as dying.
final class EmulatorProcess: Sendable {
    let folder: TemporaryFolder
    let port: Int
    private let process: Process
    private let exited: AsyncStream<Int32>

    struct StartFailed: Error {
        let log: String
    }

    /// Starts it and waits until it is ready.
    init(in folder: TemporaryFolder, port: Int = 0, settings: [String: String] = [:]) async throws {
        self.folder = folder
        try SharedAccount.place(in: folder)
        let log = "\(folder.path)/\(UUID().uuidString).log"
        try Data().write(to: URL(filePath: log))
        process = Process()
        process.executableURL = Self.executable
        let own = [
            "MSI_STATE_DIR": folder.path, "MSI_FCM_EMULATOR_PORT": String(port), "SWIFT_BACKTRACE": "enable=no",
        ]
        process.environment = own.merging(settings) { _, given in given }
        process.standardError = FileHandle(forWritingAtPath: log)
        let (exited, continuation) = AsyncStream<Int32>.makeStream()
        self.exited = exited
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let lines = try String(contentsOfFile: log, encoding: .utf8)
            if lines.contains("\"message\":\"ready\""), let port = Self.port(in: lines) {
                self.port = port
                return
            }
            guard process.isRunning, ContinuousClock.now < deadline else {
                process.terminate()
                throw StartFailed(log: lines)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Ends it at once, with whatever it is doing, and waits until it is gone.
    func kill() async {
        Glibc.kill(process.processIdentifier, SIGKILL)
        for await _ in exited { return }
    }

    /// Stops it as an operator would.
    ///
    /// - Returns: The exit status.
    func stop() async -> Int32? {
        Glibc.kill(process.processIdentifier, SIGTERM)
        for await status in exited { return status }
        return nil
    }

    func withClient<Result>(_ body: (EmulatorClient) async throws -> Result) async throws -> Result {
        try await EmulatorClient.with(port: port, folder: folder.emulator, body)
    }

    /// Beside the test bundle, where the build puts all products.
    private static var executable: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "msi-fcm-emulator")
    }

    private static func port(in log: String) -> Int? {
        log.firstMatch(of: /https:\/\/127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
    }
}
