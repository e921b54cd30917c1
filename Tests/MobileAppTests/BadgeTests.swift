import TestSupport
import Testing

@testable import MobileApp

@Suite("The app's badge", .timeLimit(.minutes(10)))
struct BadgeTests {
    @Test("Two equal times, and times that no day has, are not quiet hours")
    func invalid() {
        #expect(QuietHours(from: 60, to: 60) == nil)
        #expect(QuietHours(from: -1, to: 60) == nil)
        #expect(QuietHours(from: 60, to: 1_440) == nil)
    }

    @Test("The student's view learns of the end of the quiet hours")
    func end() async throws {
        let end = milliseconds("2026-11-24T07:00:00Z")
        let phone = try TestPhone(clock: TestClock(now: end - 20_000), subjects: [])
        let badge = phone.app.badge
        try await badge.set(QuietHours(from: 22 * 60, to: 7 * 60))
        #expect(try await badge.quietUntil() == end)
        try await phone.running {
            // Behind the second look no further one is due before the end.
            for _ in 0..<2 { try await phone.look() }
            try await eventually("the app waits for the end") { phone.clock.wakeTimes.contains(end) }
            let changes = phone.app.changes()
            phone.clock.advance(by: 20)
            for await _ in changes { if try await badge.quietUntil() == nil { break } }
        }
    }
}
