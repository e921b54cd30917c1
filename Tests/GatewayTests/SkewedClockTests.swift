import TestSupport
import Testing

@Suite("The gateway with a clock that differs from the services'", .timeLimit(.minutes(10)), .enabled(if: FakeClock.isPossible))
struct SkewedClockTests {
    @Test("A post is accepted", arguments: [-30, 30])
    func posts(seconds: Int) async throws {
        try await withTemporaryFolder { folder in
            let clock = try FakeClock(in: folder, ahead: seconds)
            try await RunningGateway.with(in: folder, settings: clock.settings) { gateway in
                let path = try await gateway.makeSubject()
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
                try await eventually { try await gateway.request("GET", "/health").status == 200 }
            }
        }
    }
}
