import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

@Suite("Alarm", .timeLimit(.minutes(1)))
struct AlarmTests {
    @Test("one that rings before its moment, since the clock was set back, can be set for it again")
    func early() async throws {
        let rings = Mutex(0)
        var alarm = Alarm()
        alarm.set(for: 1_000, at: 999) { rings.withLock { $0 += 1 } }
        alarm.set(for: 1_000, at: 999) { Issue.record("a second one for the same moment") }
        try await eventually { rings.withLock(\.self) == 1 }
        alarm.rang(1_000)
        alarm.set(for: 1_000, at: 998) { rings.withLock { $0 += 1 } }
        try await eventually { rings.withLock(\.self) == 2 }
    }

    @Test("a moment before the one that is set is not missed")
    func sooner() async throws {
        let hasRung = Mutex(false)
        var alarm = Alarm()
        alarm.set(for: 1_000_000, at: 0) { Issue.record("too soon") }
        alarm.set(for: 2, at: 0) { hasRung.withLock { $0 = true } }
        try await eventually { hasRung.withLock(\.self) }
    }
}
