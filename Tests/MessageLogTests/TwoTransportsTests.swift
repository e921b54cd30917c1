import Archive
import Base
import Schemas
import Testing

@testable import MessageLog

/// The record of a message that goes by FCM and by Web Push, with a test clock.
@Suite("Record of two transports")
struct TwoTransportsTests {
    private static let now: UnixMilliseconds = 1_000_000
    private static let expires: UnixMilliseconds = 2_000_000
    private static let lease = Lease(owner: "me", until: now + 30_000)
    private static let both: PushTransports = [.fcm, .webpush]
    private static let unreachable = DeliveryError(class: .retryable, code: "RELAY_UNREACHABLE", message: "none")

    private static func logged(_ distribution: Distribution = .alert, by transports: PushTransports = both) -> RelayRecord {
        RelayRecord(logged: distribution, by: transports, due: now, expires: expires, lease: lease)
    }

    private static func accepted(_ parts: [Int]) -> AttemptOutcome.Kind {
        .answered(parts.map { PartResult(part: $0, result: .success("n\($0)")) })
    }

    private static func refused(_ parts: [Int], _ class: ErrorClass = .retryable) -> AttemptOutcome.Kind {
        .answered(
            parts.map { PartResult(part: $0, result: .failure(DeliveryError(class: `class`, code: "CODE", message: "why"))) })
    }

    private func after(_ outcomes: [AttemptOutcome], of record: RelayRecord = logged()) -> RelayRecord {
        var record = record
        record.attempted(outcomes, by: "me", at: Self.now, expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
        return record
    }

    @Test("A message has the components of the transports that are switched on, each due at its own time")
    func components() {
        let record = RelayRecord(logged: .alert, by: Self.both, due: Self.now, expires: Self.expires)
        #expect(record.pendingComponents == [.notification, .data, .webpush])
        #expect(record.nextAttempt == Self.now && record.webpushAttempt == Self.now)
        let fcm = RelayRecord(logged: .information, due: Self.now)
        #expect(fcm.pendingComponents == [.data] && fcm.nextAttempt == Self.now && fcm.webpushAttempt == nil)
        let webpush = RelayRecord(logged: .alert, by: .webpush, due: Self.now, expires: Self.expires)
        #expect(webpush.pendingComponents == [.webpush])
        #expect(webpush.nextAttempt == Self.expires && webpush.webpushAttempt == Self.now && webpush.firstAttempt == Self.now)
        let held = RelayRecord(held: .alert, by: Self.both, until: Self.expires)
        #expect(held.nextAttempt == Self.expires && held.webpushAttempt == nil)
    }

    @Test("While FCM is unreachable, what the Web Push service has taken stays accepted, and only FCM's parts wait")
    func withoutFCM() {
        let record = after([
            AttemptOutcome(.webpush, Self.accepted([2])), AttemptOutcome(.fcm, .unreachable(Self.unreachable)),
        ])
        #expect(record.state == .retrying && record.attempts == 1 && record.lease == nil)
        #expect(record.components.map(\.state) == [.pending, .pending, .accepted])
        #expect(record.components.map(\.error) == [Self.unreachable, Self.unreachable, nil])
        #expect(record.nextAttempt == Self.now && record.webpushAttempt == nil)
    }

    @Test("While the Web Push service is unreachable, only its part waits, and nothing for FCM is due before the message expires")
    func withoutWebPush() {
        let record = after([
            AttemptOutcome(.fcm, Self.accepted([0, 1])), AttemptOutcome(.webpush, .unreachable(Self.unreachable)),
        ])
        #expect(record.components.map(\.state) == [.accepted, .accepted, .pending])
        #expect(record.nextAttempt == Self.expires && record.webpushAttempt == Self.now && record.firstAttempt == Self.now)
    }

    @Test("Each transport has its own wait, and an attempt by one leaves the other's")
    func waits() {
        var record = after([AttemptOutcome(.fcm, Self.refused([0, 1])), AttemptOutcome(.webpush, .unanswered("lost"))])
        #expect(record.nextAttempt == Self.now + 10_000 && record.webpushAttempt == Self.now + 1_000)
        #expect(record.components.map(\.error?.code) == ["CODE", "CODE", "RELAY_NO_ANSWER"])
        // The other queue claims it.
        (record.lease, record.webpushAttempt) = (Self.lease, Self.lease.until)
        #expect(record.dueTransports(at: Self.now) == .webpush)
        #expect(record.dueTransports(at: Self.now + 10_000) == Self.both)
        let relayed = after([AttemptOutcome(.webpush, Self.accepted([2]))], of: record)
        #expect(relayed.nextAttempt == Self.now + 10_000 && relayed.webpushAttempt == nil)
    }

    @Test("A message is relayed when every part was accepted, and has failed if one never can be")
    func ends() {
        let both = [AttemptOutcome(.fcm, Self.accepted([0, 1])), AttemptOutcome(.webpush, Self.accepted([2]))]
        let relayed = after(both)
        #expect(relayed.state == .relayed && relayed.attempts == 1)
        #expect(relayed.nextAttempt == nil && relayed.webpushAttempt == nil)
        let failed = after([AttemptOutcome(.fcm, Self.refused([0, 1], .permanent)), both[1]])
        #expect(failed.state == .failed && failed.components.map(\.state) == [.failed, .failed, .accepted])
    }

    @Test("What people do applies to all parts")
    func interventions() throws {
        let time = ChangeTime(now: Self.now)
        var failed = after([
            AttemptOutcome(.fcm, Self.refused([0, 1], .permanent)), AttemptOutcome(.webpush, Self.refused([2], .permanent)),
        ])
        try failed.retry(by: "ann", at: time, expires: Self.expires)
        #expect(failed.pendingComponents == [.notification, .data, .webpush])
        #expect(failed.nextAttempt == Self.now && failed.webpushAttempt == Self.now)

        var recalled = RelayRecord(logged: .alert, by: Self.both, due: Self.now + 60_000, expires: Self.expires)
        try recalled.recall(by: "ann", at: time)
        #expect(recalled.components.map(\.state) == [.recalled, .recalled, .recalled])
        #expect(recalled.nextAttempt == nil && recalled.webpushAttempt == nil)

        let unreachable = AttemptOutcome(.fcm, .unreachable(Self.unreachable))
        var inBrowsers = after([unreachable, AttemptOutcome(.webpush, Self.accepted([2]))])
        try inBrowsers.recall(by: "ann", at: time)
        #expect(inBrowsers.state == .recalled && inBrowsers.components.map(\.state) == [.recalled, .recalled, .accepted])
        var onPhones = after([AttemptOutcome(.fcm, Self.accepted([0])), AttemptOutcome(.webpush, .unreachable(Self.unreachable))])
        #expect(throws: CommandFailure.self) { try onPhones.recall(by: "ann", at: time) }

        // Browsers are told of recalled Alerts only.
        let information = Self.logged(.information)
        var shown = after([unreachable, AttemptOutcome(.webpush, Self.accepted([1]))], of: information)
        #expect(throws: CommandFailure.self) { try shown.recall(by: "ann", at: time) }
        let toNobody = AttemptOutcome(.webpush, .answered([PartResult(part: 1, result: .success("0"))]))
        var unseen = after([unreachable, toNobody], of: information)
        try unseen.recall(by: "ann", at: time)
        #expect(unseen.components.map(\.state) == [.recalled, .accepted])

        var held = RelayRecord(held: .alert, by: Self.both, until: Self.expires)
        try held.approve(by: "ann", of: "ben", at: time, notBefore: nil, expires: Self.expires)
        #expect(held.nextAttempt == Self.now && held.webpushAttempt == Self.now)
        held.holdAfterRestore(by: "ann", at: Self.now, expires: Self.expires)
        #expect(held.nextAttempt == Self.expires && held.webpushAttempt == nil)
        try held.release(by: "ann", at: time, notBefore: nil, needsApproval: false, expires: Self.expires)
        #expect(held.nextAttempt == Self.now && held.webpushAttempt == Self.now)

        var expired = after([AttemptOutcome(.fcm, Self.accepted([0, 1]))])
        expired.expire(at: Self.expires, expires: Self.expires)
        #expect(expired.state == .expired && expired.components.map(\.state) == [.accepted, .accepted, .expired])
    }

    @Test("A lease moves only what it was taken for")
    func leases() {
        var record = Self.logged()
        record.takeLease(Self.lease, for: .webpush)
        (record.nextAttempt, record.webpushAttempt) = (Self.now + 600_000, Self.lease.until)
        record.extendLease(to: Lease(owner: "me", until: Self.now + 40_000))
        #expect(record.nextAttempt == Self.now + 600_000 && record.webpushAttempt == Self.now + 40_000)
        record.releaseLease(at: Self.now + 5)
        #expect(record.lease == nil && record.nextAttempt == Self.now + 600_000 && record.webpushAttempt == Self.now + 5)
    }

    @Test("A message without any component is relayed when it is due, and expires if that is too late")
    func none() {
        var record = RelayRecord(logged: .alert, by: [], due: Self.now, expires: Self.expires)
        #expect(record.components.isEmpty && record.nextAttempt == Self.now && record.webpushAttempt == nil)
        var late = record
        record.expire(at: Self.now, expires: Self.expires)
        #expect(record.state == .relayed && record.nextAttempt == nil)
        late.expire(at: Self.expires, expires: Self.expires)
        #expect(late.state == .expired)
    }

    @Test(
        "Running apps get a message when FCM has accepted its data, without FCM when the Web Push service has, or else when it is due"
    )
    func acceptance() {
        func accepted(_ record: RelayRecord) -> UnixMilliseconds? {
            var record = record
            AcceptanceClock().note(&record, at: Self.now)
            return record.accepted
        }
        #expect(accepted(after([AttemptOutcome(.webpush, Self.accepted([2]))])) == nil)
        #expect(accepted(after([AttemptOutcome(.fcm, Self.accepted([1]))])) == Self.now)
        let webpush = Self.logged(by: .webpush)
        #expect(accepted(webpush) == nil)
        #expect(accepted(after([AttemptOutcome(.webpush, Self.accepted([0]))], of: webpush)) == Self.now)
        var none = Self.logged(by: [])
        #expect(accepted(none) == nil)
        none.expire(at: Self.now, expires: Self.expires, owner: "me")
        #expect(accepted(none) == Self.now)
    }
}
