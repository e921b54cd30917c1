import Testing
import Time

@testable import CommandBus

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
