import Archive
import Base
import Schemas
import Testing

@testable import MessageLog

/// The record of a push to persons, with a test clock.
@Suite("Record of a push to persons")
struct PersonRecordTests {
    private static let now: UnixMilliseconds = 1_000_000
    private static let expires: UnixMilliseconds = 2_000_000
    private static let lease = Lease(owner: "me", until: now + 30_000)
    private static let noAnswer = DeliveryError(.peopleUnreachable, retryAfter: 2_000)

    private let phone = ReachedDevice.phone(of: .ann, "t1")
    private let browser = ReachedDevice.browser(of: .ann, "s1")

    private static func logged(_ accounts: [String] = ["ann", "ben"]) -> PushRecord {
        var record = PushRecord(
            logged: accounts.map { .account($0) }, by: .webpush, due: now, expires: expires)
        record.takeLease(lease, for: OutboxQueues([.fcm, .blocks]))
        return record
    }

    private func attempt(_ outcomes: [AttemptOutcome], _ record: inout PushRecord, at now: UnixMilliseconds = now) {
        record.attempted(outcomes, by: "me", at: now, expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
    }

    @Test("The devices of accounts take their place, in the order of the accounts, and without a device nobody is left")
    func resolved() {
        var record = Self.logged(["Ben", "ANN", "carl"])
        #expect(record.pendingTransports == [.fcm, .webpush] && record.namesPersons)
        let other = ReachedDevice.phone(of: .ben, "t2")
        record.resolve(to: [phone, browser, other])
        #expect(record.recipients == [other, phone, browser].map { RecipientRecord(recipient: $0.recipient) })
        #expect(!record.namesPersons && record.lease == Self.lease)
        #expect(record.pendingParts(of: .fcm) == [0, 1] && record.pendingParts(of: .webpush) == [2])

        var nobody = Self.logged()
        nobody.resolve(to: [])
        attempt([], &nobody)
        #expect(nobody.state == .relayed && nobody.recipients.isEmpty && nobody.ended == Self.now && nobody.attempts == 0)
    }

    @Test("Before a later attempt, devices that are missing end, and others keep their outcome or get their new transport")
    func later() {
        var record = Self.logged(["ann"])
        let changed = ReachedDevice.phone(of: .ann, "t3")
        record.resolve(to: [phone, browser, changed])
        record.recipients[0].state = .accepted
        let asBrowser = ReachedDevice(
            device: changed.device, account: .ann, transport: .webpush, address: Secret("s3"), registered: 6, language: nil)
        record.resolve(to: [asBrowser])
        #expect(record.recipients.map(\.state) == [.accepted, .failed, .pending])
        #expect(record.recipients[1].error?.code == "DEVICE_GONE" && record.recipients[1].isGone)
        #expect(record.recipients[2].recipient == asBrowser.recipient && record.pendingTransports == .webpush)
    }

    @Test("While the devices are not known, both transports wait two seconds, and no attempt counts")
    func unresolved() {
        var record = Self.logged()
        for _ in 0..<20 {
            (record.lease, record.nextAttempt, record.webpushAttempt) = (Self.lease, Self.lease.until, Self.lease.until)
            let due = record.dueTransports(at: Self.now)
            #expect(due == [.fcm, .webpush])
            attempt(due.all.map { AttemptOutcome($0, .unreachable(Self.noAnswer)) }, &record)
            #expect(record.nextAttempt == Self.now + 2_000 && record.webpushAttempt == Self.now + 2_000)
            #expect(record.state == .pending && record.attempts == 0 && record.lease == nil)
        }
        #expect(record.recipients.map(\.error) == [Self.noAnswer, Self.noAnswer])
    }

    @Test("A push that ends before its devices are known keeps no name, and says why it has ended")
    func forgotten() throws {
        var expired = Self.logged()
        attempt([AttemptOutcome(.fcm, .unreachable(Self.noAnswer))], &expired)
        expired.expire(at: Self.expires, expires: Self.expires)
        #expect(expired.state == .expired && expired.recipients.map(\.recipient) == [.account(""), .account("")])
        #expect(expired.recipients.allSatisfy { $0.error == Self.noAnswer && $0.state == .expired })
        #expect(!expired.namesPersons)
        var recalled = Self.logged()
        recalled.lease = nil
        try recalled.recall(by: "people", at: ChangeTime(now: Self.now))
        #expect(recalled.state == .recalled && recalled.recipients.map(\.recipient.text) == ["", ""])
        var held = Self.logged()
        held.holdAfterRestore(by: "msi restore", at: Self.now, expires: Self.expires)
        #expect(held.namesPersons && held.webpushAttempt == nil)
        try held.discard(by: "ann", at: ChangeTime(now: Self.now))
        #expect(!held.namesPersons && held.state == .recalled)
    }

    @Test("An account that is erased leaves the push, whose turn then stores nothing that it has read before")
    func erased() {
        var leased = Self.logged()
        leased.erase(.named("ANN"), at: Self.now, expires: Self.expires)
        #expect(leased.recipients.map(\.recipient) == [.account("ben")])
        #expect(leased.lease == Lease(owner: "me", until: Self.lease.until - 1) && leased.nextAttempt == Self.lease.until - 1)
        // The other process ends it.
        leased.erase(.ben, at: Self.now, expires: Self.expires)
        #expect(leased.recipients.isEmpty && leased.nextAttempt != nil)
        attempt([AttemptOutcome(.fcm, .unreachable(Self.noAnswer))], &leased)
        #expect(leased.state == .relayed && leased.nextAttempt == nil)

        var held = Self.logged(["ann"])
        held.holdAfterRestore(by: "msi restore", at: Self.now, expires: Self.expires)
        held.erase(.ben, at: Self.now, expires: Self.expires)
        #expect(held.isHeldByRestore && held.nextAttempt == Self.expires)
        held.erase(.ann, at: Self.now, expires: Self.expires)
        #expect(held.state == .relayed && held.recipients.isEmpty && held.ended == Self.now)
    }

    @Test("While Web Push is switched off, the queue of FCM keeps the accounts")
    func switchedOff() {
        var record = Self.logged()
        record.nextAttempt = Self.now - 5
        record.leaveAccountsToFCM(at: Self.now)
        #expect(record.lease == nil && record.nextAttempt == Self.now - 5 && record.webpushAttempt == nil)
        #expect(record.dueTransports(at: Self.now) == [.fcm, .webpush], "the turn of FCM asks for all devices")
    }

    @Test("A device whose end is not reported yet is tried again within half a minute, however many attempts there were")
    func unreported() throws {
        var record = Self.logged(["ann"])
        record.resolve(to: [phone])
        record.attempts = 9
        let pending = DeliveryError(class: .retryable, code: "UNREGISTERED", message: "gone", retryAfter: 5_000)
        attempt([AttemptOutcome(.fcm, .answered([PartResult(part: 0, result: .failure(pending))]))], &record)
        #expect(record.state == .retrying && record.recipients[0].state == .pending && !record.recipients[0].isUnregistered)
        #expect(try #require(record.nextAttempt) <= Self.now + 30_000)
    }

    @Test("A push of the message log's other senders is as before")
    func tokens() {
        var record = PushRecord(logged: [.token("t")], due: Self.now)
        let before = record
        record.resolve(to: [phone])
        record.forgetAccounts()
        #expect(record == before && !record.namesPersons)
        #expect(!RelayRecord(logged: .alert, due: Self.now).namesPersons)
    }
}
