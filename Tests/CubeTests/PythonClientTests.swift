import TestSupport
import Testing

/// A test of the protocol's page: a program in another language that follows it drives the services.
@Suite("Python client", .timeLimit(.minutes(10)))
struct PythonClientTests {
    @Test("A Python program with pyzmq can use the cube and the message log")
    func drivesServices() async throws {
        try await withTemporaryFolder { state in
            try await withService("msi-cube", in: state) { cube in
                try await withService("msi-message-log", in: state) { log in
                    let output = try await PythonScript.run("drive_bus.py", ["\(state)/run"])
                    let lines = output.split(separator: "\n")
                    #expect(lines.last == "all of it works", "\(output)")
                    #expect(lines.count { $0.hasPrefix("ok ") } == 29, "\(output)")
                    for process in [cube, log] { expectCleanLog(of: process, secret: "🎓", "Python") }
                }
            }
        }
    }
}
