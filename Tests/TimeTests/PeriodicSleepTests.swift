import Testing

@testable import Time

@Suite("Sleeping until the next multiple of a period")
struct PeriodicSleepTests {
    @Test(
        "The sleep ends at a multiple of the period",
        arguments: [
            (0, 1_000), (1, 1_000), (400, 1_000), (900, 1_000), (901, 2_000), (999, 2_000), (86_400_000, 86_401_000),
            (86_400_250, 86_401_000),
        ])
    func endsAtMultiple(now: Int64, end: Int64) {
        #expect(Duration.seconds(1).nextMultiple(after: .milliseconds(now)) == .milliseconds(end))
    }

    @Test("A cancelled task does not sleep")
    func cancelled() async {
        let sleeper = Task { try await Task.sleep(untilNext: .seconds(3_600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
