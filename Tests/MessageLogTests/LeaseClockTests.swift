import Schemas
import Testing

@testable import MessageLog

@Suite("The clock of leases")
struct LeaseClockTests {
    private static let start: UnixMilliseconds = 1_795_262_400_000
    private static let hour: Int64 = 3_600_000

    @Test("A step forward of the clock is ignored for as long as a lease lasts")
    func stepForward() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        #expect(clock.time(wall: Self.start + 5_000, uptime: 5_000) == Self.start + 5_000)
        let stepped = Self.start + Self.hour
        #expect(clock.time(wall: stepped + 6_000, uptime: 6_000) == Self.start + 6_000)
        let end = 6_000 + Lease.duration
        #expect(clock.time(wall: stepped + end - 1, uptime: end - 1) == Self.start + end - 1)
        #expect(clock.time(wall: stepped + end, uptime: end) == stepped + end)
    }

    @Test("Two steps forward add up")
    func twoStepsForward() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 0)
        #expect(clock.time(wall: Self.start + 2 * Self.hour, uptime: 0) == Self.start)
    }

    @Test("A step back counts at once")
    func stepBack() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 1_000)
        #expect(clock.time(wall: Self.start + 2_000, uptime: 2_000) == Self.start + 2_000)
    }

    @Test("After a step forward and a smaller step back, the difference is ignored")
    func stepForwardAndBack() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 0)
        #expect(clock.time(wall: Self.start + Self.hour - 2_000, uptime: 0) == Self.start)
    }

    @Test("A clock that is adjusted gradually is followed")
    func gradualAdjustment() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        for second in 1...100 {
            let wall = Self.start + Int64(second) * 1_500
            #expect(clock.time(wall: wall, uptime: Int64(second) * 1_000) == wall)
        }
    }
}
