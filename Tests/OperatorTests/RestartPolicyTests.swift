import Testing

@testable import Operator

@Suite("Restart policy")
struct RestartPolicyTests {
    @Test("Restarts come at once at first, then with a growing backoff, and at once again after a good run")
    func delays() {
        var policy = RestartPolicy()
        let delays = (0..<9).map { _ in policy.delay(afterRunOf: .milliseconds(50)) }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].map { .milliseconds($0) })
        #expect(policy.delay(afterRunOf: .seconds(10)) == .milliseconds(100))
        #expect(policy.delay(afterRunOf: .seconds(9)) == .milliseconds(200))
    }
}
