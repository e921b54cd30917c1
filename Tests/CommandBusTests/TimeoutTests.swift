import Testing
import Time

@testable import CommandBus

@Suite("Timeouts in milliseconds")
struct TimeoutTests {
    static let durations: [(Duration, Milliseconds)] = [
        (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1_500), 2), (.seconds(5), 5_000),
        (.seconds(-3), 0), (.milliseconds(-1), 0), (.seconds(Int64.max), .year),
    ]

    @Test("A timeout is rounded up to milliseconds, from 0 to a year", arguments: durations)
    func conversion(_ duration: Duration, expected: Milliseconds) {
        #expect(Milliseconds(timeout: duration) == expected)
    }
}
