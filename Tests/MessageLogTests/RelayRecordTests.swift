import Schemas
import Testing

@testable import MessageLog

/// What happens to a message on its way, with a clock of the test's own.
@Suite("Relay record")
struct RelayRecordTests {
    private static let now: UnixMilliseconds = 1_000_000
    private static let expires: UnixMilliseconds = 2_000_000

    private static func logged(_ distribution: Distribution = .alert) -> RelayRecord {
        RelayRecord(logged: distribution, at: now, lease: Lease(owner: "me", until: now + 30_000))
    }

    private static func accepted(_ component: Component) -> ComponentOutcome {
        ComponentOutcome(component: component, result: .success("projects/p/messages/\(component.rawValue)"))
    }

    private static func failed(_ component: Component, _ class: ErrorClass, retryAfter: Int64? = nil) -> ComponentOutcome {
        ComponentOutcome(
            component: component,
            result: .failure(ComponentError(class: `class`, code: "CODE", message: "why", retryAfter: retryAfter)))
    }

    private func after(
        _ outcomes: [ComponentOutcome], of record: RelayRecord = logged(), at now: UnixMilliseconds = now, random: Double = 0.5
    ) -> RelayRecord {
        var record = record
        record.answered(outcomes, at: now, expires: Self.expires, schedule: RetrySchedule(), random: random)
        return record
    }

    @Test("a logged message is pending, due at once, with the components of its distribution")
    func logged() {
        #expect(Self.logged().state == .pending)
        #expect(Self.logged().nextAttempt == Self.now)
        #expect(Self.logged(.alert).outstanding == [.notification, .data])
        #expect(Self.logged(.information).outstanding == [.data])
    }

    @Test("all components accepted: relayed, with FCM's names, and nothing more to do")
    func relayed() {
        let record = after([Self.accepted(.notification), Self.accepted(.data)])
        #expect(record.state == .relayed)
        #expect(record.attempts == 1)
        #expect(record.nextAttempt == nil)
        #expect(record.lease == nil)
        #expect(record.components.map(\.name) == ["projects/p/messages/notification", "projects/p/messages/data"])
    }

    @Test("what was accepted is never sent again; the rest is retried")
    func partial() {
        let record = after([Self.accepted(.notification), Self.failed(.data, .retryable)])
        #expect(record.state == .retrying)
        #expect(record.outstanding == [.data])
        #expect(record.nextAttempt == Self.now + 10_000)
        #expect(record.components[1].error?.code == "CODE")

        // A late second answer cannot take an acceptance back.
        let late = after([Self.failed(.notification, .permanent), Self.accepted(.data)], of: record)
        #expect(late.state == .relayed)
        #expect(late.components[1].error == nil)
    }

    @Test("a permanent error fails the message, and the other component is relayed all the same")
    func permanent() {
        let record = after([Self.failed(.notification, .permanent), Self.failed(.data, .retryable)])
        #expect(record.state == .retrying)
        #expect(record.outstanding == [.data])
        let end = after([Self.accepted(.data)], of: record)
        #expect(end.state == .failed)
        #expect(end.components.map(\.state) == [.failed, .accepted])
        #expect(end.nextAttempt == nil)
    }

    @Test("the wait before a retry doubles from 10 s to 10 min, a fifth more or less, and never less than FCM asks for")
    func schedule() {
        let schedule = RetrySchedule()
        #expect(
            (1...9).map { schedule.delay(after: $0, least: nil, random: 0.5) }
                == [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000])
        #expect(schedule.delay(after: 1, least: nil, random: 0) == 8_000)
        #expect(schedule.delay(after: 1, least: nil, random: 1) == 12_000)
        #expect(schedule.delay(after: 1, least: 60_000, random: 1) == 60_000)
        #expect(schedule.delay(after: 1_000_000, least: nil, random: 0.5) == 600_000)
        #expect(
            after([Self.failed(.data, .retryable, retryAfter: 120_000)], of: Self.logged(.information)).nextAttempt
                == Self.now + 120_000)
    }

    @Test("a retry that would come after the deadline becomes the look at which the message expires")
    func expiry() {
        let late = Self.expires - 1_000
        var record = after([Self.failed(.data, .retryable)], of: Self.logged(.information), at: late)
        #expect(record.state == .retrying)
        #expect(record.nextAttempt == Self.expires)
        record.unanswered(at: Self.expires, expires: Self.expires)
        #expect(record.state == .expired)
        #expect(record.components.map(\.state) == [.expired])
        #expect(record.nextAttempt == nil)
        #expect(record.components[0].error?.code == "CODE", "the last error is still told")
    }

    @Test("a message whose one component was accepted before it expired is expired, and says which")
    func partlyExpired() {
        var record = after([Self.accepted(.notification), Self.failed(.data, .retryable)])
        record.unanswered(at: Self.expires, expires: Self.expires)
        #expect(record.state == .expired)
        #expect(record.components.map(\.state) == [.accepted, .expired])
    }

    @Test("without an answer the message is due again at once, as pending as before")
    func unanswered() {
        var record = Self.logged()
        record.unanswered(at: Self.now + 5, expires: Self.expires)
        #expect(record.state == .pending)
        #expect(record.attempts == 0)
        #expect(record.nextAttempt == Self.now + 5)
        #expect(record.lease == nil)
    }
}
