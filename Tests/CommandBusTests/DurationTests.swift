import Testing

@testable import CommandBus

struct DurationTests {
    static let durations: [(Duration, Int64)] = [
        (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1_500), 2), (.seconds(5), 5_000),
        (.seconds(-3), 0), (.milliseconds(-1), 0), (.seconds(Int64.max), 31_536_000_000),
    ]

    @Test(arguments: durations) func milliseconds(_ duration: Duration, expected: Int64) {
        #expect(duration.boundedMilliseconds == expected)
    }
}
