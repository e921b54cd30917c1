import Base
@testable import Bus
import Testing

@Suite("Times of the bus")
struct BusTimesTests {
    @Test("A pause is noticed before a peer can take the connection for lost")
    func pauses() {
        #expect(PauseWatch.minPause == Milliseconds(timeout: BusTimes.minPause))
        #expect(BusTimes.minPause < BusTimes.silence * 2 / 3)
        #expect(PauseWatch.interval + PauseWatch.interval < PauseWatch.minPause, "a look that is a little late is no pause")
    }

    @Test("A request outlasts the wait for a connection, and the time in which a lost connection is noticed")
    func requests() {
        #expect(BusTimes.requestTimeout > ClientLimits().connectGrace + BusTimes.silence)
        #expect(ServerLimits().drainTimeout > BusTimes.requestTimeout)
    }

    @Test("A search ends before its client gives up")
    func searches() {
        #expect(BusTimes.maxSearchTime > .zero)
        #expect(BusTimes.maxSearchTime <= BusTimes.requestTimeout - .milliseconds(500))
    }
}

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
