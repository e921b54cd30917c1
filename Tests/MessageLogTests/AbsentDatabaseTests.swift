import Bus
import Schemas
import TestSupport
import Testing

@Suite("A database that was never reachable", .timeLimit(.minutes(10)))
struct AbsentDatabaseTests {
    @Test("Without a database, the service starts, reports that it is not healthy, and stops")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            // Nothing listens on this port.
            let settings = ["MSI_DATABASE_URL": "mongodb://127.0.0.1:1/msi"]
            try await RunningMessageLog.with(in: folder, settings: settings) { log in
                do throws(CommandFailure) {
                    _ = try await log.client.request(CheckHealth())
                    Issue.record("it says that it is healthy")
                } catch {
                    #expect(error.status == .unavailable)
                }
                _ = try await log.client.request(Ping())
                #expect(await log.process.stop() == 0)
            }
        }
    }
}
