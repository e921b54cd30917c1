import CommandBus
import Schemas
import TestSupport
import Testing

@Suite("A database that was never reachable", .timeLimit(.minutes(1)))
struct AbsentDatabaseTests {
    @Test("Without a database, the service starts, reports that it is not healthy, and stops within seconds")
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
                let start = ContinuousClock.now
                #expect(await log.process.stop() == 0)
                // An operation of the database may take 10 s. The stop does not wait for it.
                #expect(ContinuousClock.now - start < .seconds(9.5))
            }
        }
    }
}
