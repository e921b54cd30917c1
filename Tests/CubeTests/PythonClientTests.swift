import Foundation
import TestSupport
import Testing

/// The protocol's page put to the proof: a programme in another language, written after it, drives the services.
@Suite("Python client", .timeLimit(.minutes(2)))
struct PythonClientTests {
    @Test("a programme with pyzmq drives the cube and the message log")
    func drivesServices() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Python")
        // deploy/test has made it; otherwise it is made here, once.
        let environment = try await Self.run(folder.appending(path: "environment"), [])
        #expect(environment.status == 0, "\(environment.output)")
        let python = environment.output.trimmingCharacters(in: .whitespacesAndNewlines)

        try await withTemporaryFolder { state in
            try await withService("msi-cube", in: state) { cube in
                try await withService("msi-message-log", in: state) { log in
                    let script = folder.appending(path: "drive_bus.py").path(percentEncoded: false)
                    let drive = try await Self.run(URL(filePath: python), [script, "\(state)/run"])
                    #expect(drive.status == 0, "\(drive.output)")
                    let lines = drive.output.split(separator: "\n")
                    #expect(lines.last == "all of it works", "\(drive.output)")
                    #expect(lines.count { $0.hasPrefix("ok ") } == 21, "\(drive.output)")
                    for process in [cube, log] { expectCleanLog(of: process, secret: "🎓", "Python") }
                }
            }
        }
    }

    /// Runs a programme to its end, on a thread of Foundation's.
    private static func run(_ programme: URL, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = programme
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        let (exited, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        // Its output is short: it fits the pipe.
        var status: Int32 = -1
        for await ended in exited { status = ended }
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        return (status, String(decoding: bytes, as: UTF8.self))
    }
}
