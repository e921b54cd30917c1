import TestSupport
import Testing

/// A gateway on a machine whose clock differs from that of the services behind it.
@Suite("Gateway with a skewed clock", .timeLimit(.minutes(1)), .enabled(if: SkewedClock.isPossible))
struct SkewedClockTests {
    @Test("posts are accepted", arguments: [-30, 30])
    func posts(seconds: Int) async throws {
        try await RunningGateway.with(settings: SkewedClock.environment(seconds: seconds)) { gateway in
            let path = try await gateway.makeSubject()
            #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
            #expect(try await gateway.request("GET", "/health").status == 200)
        }
    }
}
