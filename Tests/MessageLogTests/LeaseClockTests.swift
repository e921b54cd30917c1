import Schemas
import Testing
import Base

@testable import MessageLog

@Suite("The clock of leases")
struct LeaseClockTests {
    private static let start: UnixMilliseconds = 1_795_262_400_000
    private static let hour = Milliseconds.seconds(3_600)
    private static let begin = ContinuousClock.now

    /// The monotonic clock, some time after the first call.
    private func monotonic(_ time: Milliseconds) -> ContinuousClock.Instant { Self.begin + Duration(time) }

    private var clock = LeaseClock(wall: start, monotonic: begin)

    @Test("A step forward of the clock is ignored for as long as a lease lasts")
    mutating func stepForward() {
        #expect(clock.time(wall: Self.start + 5_000, monotonic: monotonic(5_000)) == Self.start + 5_000)
        let stepped = Self.start + Self.hour
        #expect(clock.time(wall: stepped + 6_000, monotonic: monotonic(6_000)) == Self.start + 6_000)
        let end = 6_000 + Lease.duration
        #expect(clock.time(wall: stepped + end - 1, monotonic: monotonic(end - 1)) == Self.start + end - 1)
        #expect(clock.time(wall: stepped + end, monotonic: monotonic(end)) == stepped + end)
    }

    @Test("Two steps forward add up")
    mutating func twoStepsForward() {
        _ = clock.time(wall: Self.start + Self.hour, monotonic: monotonic(0))
        #expect(clock.time(wall: Self.start + Self.hour * 2, monotonic: monotonic(0)) == Self.start)
    }

    @Test("A step back counts at once")
    mutating func stepBack() {
        _ = clock.time(wall: Self.start + Self.hour, monotonic: monotonic(1_000))
        #expect(clock.time(wall: Self.start + 2_000, monotonic: monotonic(2_000)) == Self.start + 2_000)
    }

    @Test("After a step forward and a smaller step back, the difference is ignored")
    mutating func stepForwardAndBack() {
        _ = clock.time(wall: Self.start + Self.hour, monotonic: monotonic(0))
        let time = clock.time(wall: Self.start + Self.hour - Milliseconds.seconds(2), monotonic: monotonic(0))
        #expect(time == Self.start)
    }

    @Test("A clock that is adjusted gradually is followed")
    mutating func gradualAdjustment() {
        for second in Int64(1)...100 {
            let wall = Self.start + Milliseconds(rawValue: second * 1_500)
            #expect(clock.time(wall: wall, monotonic: monotonic(.seconds(second))) == wall)
        }
    }
}
