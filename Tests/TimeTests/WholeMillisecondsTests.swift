import Testing
import Time

struct WholeMillisecondsTests {
    static let durations: [(Duration, Int64)] = [
        (.zero, 0), (.milliseconds(1), 1), (.microseconds(1_999), 1), (.seconds(-3), -3_000), (.microseconds(-1_999), -1),
        (.seconds(Int64.max), .max), (.seconds(Int64.min), .min), (.milliseconds(Int64.max), .max),
    ]

    @Test("A duration is rounded towards zero, and cut off where an integer ends", arguments: durations)
    func conversion(_ duration: Duration, expected: Int64) {
        #expect(duration.wholeMilliseconds == expected)
    }
}
