import Testing

@testable import FCMEmulator

@Suite("A phone's position in its stream")
struct DeliveryCursorTests {
    let start = ContinuousClock.now

    @Test("An event counts as delivered a second after it was written")
    func anEventSettlesAfterASecond() {
        var cursor = DeliveryCursor(after: 5, now: start)
        cursor.wrote(through: 7, now: start)
        cursor.wrote(through: 9, now: start + .milliseconds(600))
        #expect(cursor.position == 9)
        #expect(cursor.nextWake == start + .seconds(1))
        let early = cursor.takeSettled(now: start + .milliseconds(999))
        let first = cursor.takeSettled(now: start + .seconds(1))
        #expect(cursor.nextWake == start + .milliseconds(1_600))
        let second = cursor.takeSettled(now: start + .seconds(3))
        let none = cursor.takeSettled(now: start + .seconds(3))
        #expect([early, first, second, none] == [nil, 7, 9, nil])
    }

    @Test("An event that was skipped does not count as delivered")
    func whatIsSkippedIsNotDelivered() {
        var cursor = DeliveryCursor(after: 0, now: start)
        cursor.skip(to: 100)
        cursor.skip(to: 50)
        #expect(cursor.position == 100)
        let settled = cursor.takeSettled(now: start + .seconds(10))
        #expect(settled == nil)
    }

    @Test("A stream without events writes a comment from time to time")
    func aSilentStreamShowsThatItLives() {
        var cursor = DeliveryCursor(after: 0, now: start)
        #expect(cursor.nextWake == start + .seconds(5))
        let early = cursor.takeHeartbeat(now: start + .seconds(4))
        cursor.wrote(through: 1, now: start + .seconds(4))
        let afterEvent = [6, 9, 10].map { cursor.takeHeartbeat(now: start + .seconds($0)) }
        #expect(!early)
        #expect(afterEvent == [false, true, false])
    }
}
