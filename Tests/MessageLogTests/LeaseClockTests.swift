import Schemas
import Testing

@testable import MessageLog

struct LeaseClockTests {
    private static let start: UnixMilliseconds = 1_795_262_400_000
    private static let hour: Int64 = 3_600_000

    @Test func `a step forward does not count for as long as a lease lasts`() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        #expect(clock.time(wall: Self.start + 5_000, uptime: 5_000) == Self.start + 5_000)
        let stepped = Self.start + Self.hour
        #expect(clock.time(wall: stepped + 6_000, uptime: 6_000) == Self.start + 6_000)
        let end = 6_000 + Lease.duration
        #expect(clock.time(wall: stepped + end - 1, uptime: end - 1) == Self.start + end - 1)
        #expect(clock.time(wall: stepped + end, uptime: end) == stepped + end)
    }

    @Test func `two steps forward add up`() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 0)
        #expect(clock.time(wall: Self.start + 2 * Self.hour, uptime: 0) == Self.start)
    }

    @Test func `a step back counts at once`() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 1_000)
        #expect(clock.time(wall: Self.start + 2_000, uptime: 2_000) == Self.start + 2_000)
    }

    @Test func `a small step back leaves the rest of a step forward without effect`() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        _ = clock.time(wall: Self.start + Self.hour, uptime: 0)
        #expect(clock.time(wall: Self.start + Self.hour - 2_000, uptime: 0) == Self.start)
    }

    @Test func `a clock that is brought into step gently is followed`() {
        var clock = LeaseClock(wall: Self.start, uptime: 0)
        for second in 1...100 {
            let wall = Self.start + Int64(second) * 1_500
            #expect(clock.time(wall: wall, uptime: Int64(second) * 1_000) == wall)
        }
    }
}
