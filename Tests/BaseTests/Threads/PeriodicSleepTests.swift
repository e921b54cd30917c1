import Testing

@testable import Base

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

    @Test("Many tasks sleep, and each wakes up at its own moment")
    func manySleepers() async throws {
        try await withThrowingTaskGroup(of: (asked: Duration, slept: Duration).self) { group in
            for number in 1...200 {
                let period = Duration.milliseconds(number)
                group.addTask {
                    let start = ContinuousClock.now
                    try await Task.sleep(untilNext: period)
                    return (period, .now - start)
                }
            }
            // A tenth of the period at least, and no less than the clock's own precision.
            for try await sleep in group { #expect(sleep.slept >= sleep.asked / 10 - .milliseconds(1)) }
        }
    }

    @Test("A sleep ends with its task, before it begins or later")
    func cancelledLater() async throws {
        let sleepers = (0..<100).map { _ in Task { try await Task.sleep(untilNext: .seconds(3_600)) } }
        for _ in 0..<10 { await Task.yield() }
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers { await #expect(throws: CancellationError.self) { try await sleeper.value } }
    }

    @Test("A cancelled task does not sleep")
    func cancelled() async {
        let sleeper = Task { try await Task.sleep(untilNext: .seconds(3_600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
