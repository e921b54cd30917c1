import Testing

@testable import LoadTester

@Suite("Arrival schedule")
struct ArrivalScheduleTests {
    @Test("Without a ramp, messages are due evenly from the first moment on")
    func steady() {
        let schedule = ArrivalSchedule(rate: 100, ramp: 0, duration: 2)
        #expect(schedule.count == 200)
        #expect((0..<200).allSatisfy { abs(schedule.moment(of: $0) - Double($0) / 100) < 1e-9 })
        #expect(!schedule.isInRamp(0))
    }

    @Test("In a ramp, the rate rises evenly to the full rate, and continues without a gap")
    func ramp() {
        let schedule = ArrivalSchedule(rate: 100, ramp: 4, duration: 10)
        #expect(schedule.count == 800)
        let moments = (0..<800).map(schedule.moment)
        #expect(moments == moments.sorted())
        func count(in range: Range<Double>) -> Int { moments.count { range.contains($0) } }
        // One, three, five and seven eighths of a full second's number.
        for (second, expected) in [13, 37, 63, 87].enumerated() {
            #expect(abs(count(in: Double(second)..<Double(second + 1)) - expected) <= 1)
        }
        #expect(count(in: 5..<6) == 100)
        #expect(schedule.isInRamp(199) && !schedule.isInRamp(200))
        #expect(abs(schedule.moment(of: 200) - 4) < 0.001)
        #expect(moments.last.map { $0 < 10 } == true)
    }
}
