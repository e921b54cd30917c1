import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Operator

/// The services of a killed `msi up`, which keep the locks on their log files until they end.
@Suite("Previous stack")
struct PreviousStackTests {
    @Test("Without a previous stack there is nothing to wait for")
    func none() async throws {
        try await withTemporaryFolder { folder in
            let log = try LogFile(directory: folder, name: "msi-cube")
            try await PreviousStack(logs: [log]) { Issue.record("\($0)") }.end(within: .zero)
            try log.open().close()
            #expect(!log.isInUse)
            try await PreviousStack(logs: [log]) { Issue.record("\($0)") }.end(within: .zero)
        }
    }

    @Test("A previous stack is waited for, and its services are named")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            let logs = try ["msi-cube", "msi-gateway"].map { try LogFile(directory: folder, name: $0) }
            let held = try logs.map { try $0.open() }
            let lines = Mutex<[String]>([])
            let waiting = Task {
                try await PreviousStack(logs: logs) { line in lines.withLock { $0.append(line) } }.end(within: .seconds(30))
            }
            try await eventually { lines.withLock { !$0.isEmpty } }
            for file in held { try file.close() }
            try await waiting.value
            #expect(lines.withLock(\.self) == ["waiting for the services of an earlier msi up to stop: msi-cube, msi-gateway"])
        }
    }

    @Test("A previous stack that does not end is an error that names its services")
    func stays() async throws {
        try await withTemporaryFolder { folder in
            let log = try LogFile(directory: folder, name: "msi-cube")
            let held = try log.open()
            let failure = await #expect(throws: StartFailure.self) {
                try await PreviousStack(logs: [log]) { _ in }.end(within: .milliseconds(50))
            }
            #expect(failure?.description.hasPrefix("msi-cube of an earlier msi up did not stop within 0.05 s") == true)
            try held.close()
        }
    }
}
