import Testing
import Base

@Suite("Alarm")
struct AlarmTests {
    @Test("Only an earlier moment than the set one needs a new wait")
    func earliest() {
        var alarm = Alarm<Int>()
        #expect(alarm.moment == nil)
        let answers = [1_000, 1_000, 2_000, 2].map { alarm.set(for: $0) }
        #expect(answers == [true, false, false, true])
        #expect(alarm.moment == 2)
    }

    @Test("An alarm that rings before its moment, since the clock was set back, can be set for it again")
    func again() {
        var alarm = Alarm<Int>()
        _ = alarm.set(for: 1_000)
        alarm.rang(1_000)
        let isSet = alarm.set(for: 1_000)
        #expect(isSet)
    }

    @Test("The end of a wait for a later moment does not change the alarm")
    func superseded() {
        var alarm = Alarm<Int>()
        _ = alarm.set(for: 1_000)
        _ = alarm.set(for: 500)
        let isCurrent = alarm.rang(1_000)
        #expect(!isCurrent)
        #expect(alarm.moment == 500)
    }
}
