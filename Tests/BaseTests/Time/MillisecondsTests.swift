import FoundationEssentials
import Testing
import Base

@Suite("Milliseconds")
struct MillisecondsTests {
    static let durations: [(Duration, Milliseconds)] = [
        (.zero, 0), (.milliseconds(1), 1), (.microseconds(1_999), 1), (.seconds(-3), -3_000), (.microseconds(-1_999), -1),
        (.seconds(Int64.max), .max), (.seconds(Int64.min), Milliseconds(rawValue: .min)), (.milliseconds(Int64.max), .max),
    ]

    @Test("A duration is rounded towards zero, and cut off where an integer ends", arguments: durations)
    func conversion(_ duration: Duration, expected: Milliseconds) {
        #expect(Milliseconds(duration) == expected)
    }

    @Test("Milliseconds are a duration again, and add up")
    func arithmetic() {
        #expect(Duration(Milliseconds.seconds(3) + 500) == .milliseconds(3_500))
        #expect(Milliseconds.seconds(3) - 500 == 2_500)
        #expect(Milliseconds.seconds(3) * 2 == 6_000)
        #expect(max(Milliseconds.zero, -1) == 0)
    }

    @Test("Sums, differences and products that are too large end at the extremes")
    func extremes() {
        let (min, max) = (Milliseconds(rawValue: .min), Milliseconds.max)
        #expect(max + 1 == max && min + -1 == min && max - -1 == max && min - 1 == min && 0 - min == max)
        #expect(max * 2 == max && max * -2 == min && min * -1 == max && min * 2 == min && max * 0 == 0)
        #expect(Milliseconds.seconds(.max) == max && Milliseconds(Seconds(rawValue: .min)) == min)
    }

    @Test(
        "Seconds are rounded towards zero, or away from it for a wait that must not end early",
        arguments: [(0, 0, 0), (1, 0, 1), (999, 0, 1), (1_000, 1, 1), (1_001, 1, 2), (-1, 0, -1), (-2_000, -2, -2)]
            as [(Milliseconds, Seconds, Seconds)])
    func seconds(_ time: Milliseconds, down: Seconds, up: Seconds) {
        #expect(Seconds(time) == down && Seconds(roundingUp: time) == up)
        #expect(Milliseconds(up) == .seconds(up.rawValue) && Duration(up) == .seconds(up.rawValue))
    }

    @Test("In a document they are a plain number")
    func coding() throws {
        let json = try JSONEncoder().encode(["wait": Milliseconds.seconds(3)])
        #expect(String(decoding: json, as: UTF8.self) == #"{"wait":3000}"#)
        #expect(try JSONDecoder().decode([String: Milliseconds].self, from: json) == ["wait": 3_000])
        #expect(try JSONDecoder().decode([String: Seconds].self, from: json) == ["wait": 3_000])
    }
}
