import Bus
import Archive
import Schemas
import TestSupport
import Testing
import Base

@testable import MessageLog

/// Messages that wait for an approval, over the bus.
@Suite("Approval over the bus", .timeLimit(.minutes(10)))
struct ApprovalTests {
    @Test(
        "A held message goes out only after another account has approved it, also across a kill and a restart",
        arguments: StoreKind.allCases)
    func approve(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await withDatabase(kind) { folder, settings in
            try await relay.run(in: folder) {
                let command = LogMessage.sample("held", approval: true)
                try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    let stored = try await log.log(command)
                    #expect(stored.relay.state == .held && stored.relay.nextAttempt == stored.expires && stored.approval == true)
                    // A repeated command changes nothing.
                    #expect(try await log.log(command).relay.state == .held)
                    await log.process.kill()
                }
                try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    try await expectStillHeld(command.msiKey, log, relay)
                    let own = await log.client.failure(of: ApproveMessage(msiKey: command.msiKey), context: .communicator)
                    #expect(own?.status == .forbidden)
                    let spelling = CallerContext(actor: "cOMMUNICATOR")
                    #expect(
                        await log.client.failure(of: ApproveMessage(msiKey: command.msiKey), context: spelling)?.status
                            == .forbidden)
                    let nameless = await log.client.failure(of: ApproveMessage(msiKey: command.msiKey))
                    #expect(nameless?.status == .unauthenticated)
                    let unknown = await log.client.failure(of: ApproveMessage(msiKey: ObjectID()), context: .ann)
                    #expect(unknown?.status == .notFound)
                    #expect(
                        await log.client.failure(of: RetryMessage(msiKey: command.msiKey), context: .ann)?.status == .conflict)
                    #expect(relay.asked(command.msiKey).isEmpty)

                    let start = UnixMilliseconds.now
                    let approved = try await log.client.request(ApproveMessage(msiKey: command.msiKey), context: .ann)
                    #expect(approved.relay.state == .pending)
                    let trace = try #require(approved.relay.trace?.first)
                    #expect(trace.action == .approve && trace.by == "Ann" && (start...UnixMilliseconds.now).contains(trace.at))
                    let done = try await log.wait(for: command.msiKey) { $0.state == .relayed }
                    #expect(done.trace == [trace])
                    #expect(relay.asked(command.msiKey) == [[.notification, .data]])
                    let again = await log.client.failure(of: ApproveMessage(msiKey: command.msiKey), context: .ann)
                    #expect(again?.status == .conflict && again?.message.contains("relayed") == true)
                }
            }
        }
    }

    /// Later messages have gone out, and the held one has not.
    private func expectStillHeld(_ msiKey: ObjectID, _ log: RunningMessageLog, _ relay: RelayDouble) async throws {
        for distribution in [Distribution.alert, .information] {
            let later = try await log.log(.sample("later", distribution: distribution))
            _ = try await log.wait(for: later.msiKey) { $0.state == .relayed }
        }
        #expect(try await log.message(msiKey).relay.state == .held)
        #expect(relay.asked(msiKey).isEmpty)
    }

    @Test("An approved message waits for its time; a held one can be recalled, and expires", arguments: StoreKind.ofRules)
    func ends(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind) { log in
            let start = UnixMilliseconds.now
            let soon = LogMessage.sample("soon", sendAt: start + 20_000, approval: true)
            let recalled = LogMessage.sample("recalled", approval: true)
            let expired = LogMessage.sample("expired", lifetime: 1_000, approval: true)
            _ = try await log.log(soon)
            let approved = try await log.client.request(ApproveMessage(msiKey: soon.msiKey), context: .ann)
            #expect(approved.relay.state == .pending && approved.relay.nextAttempt == soon.content.sendAt)
            for command in [recalled, expired] { _ = try await log.log(command) }

            let rejection = RecallMessage(msiKey: recalled.msiKey, reason: "wrong room")
            let back = try await log.client.request(rejection, context: .ann)
            #expect(back.relay.state == .recalled && back.relay.ended != nil)
            #expect(back.relay.trace?.map(\.reason) == ["wrong room"])
            #expect(try await log.message(recalled.msiKey) == back)
            let late = await log.client.failure(of: ApproveMessage(msiKey: recalled.msiKey), context: .ann)
            #expect(late?.status == .conflict)

            let over = try await log.wait(for: expired.msiKey) { $0.state == .expired }
            #expect(over.attempts == 0 && over.components.allSatisfy { $0.error?.message.contains("approved") == true })
            #expect(
                await log.client.failure(of: ApproveMessage(msiKey: expired.msiKey), context: .ann)?.status == .conflict)

            _ = try await log.wait(for: soon.msiKey) { $0.state == .relayed }
            #expect(UnixMilliseconds.now >= start + 20_000)
            #expect(relay.asked(recalled.msiKey).isEmpty && relay.asked(expired.msiKey).isEmpty)
        }
    }
}

/// A held message in every event that makes other messages due.
@Suite("Held records")
struct HeldRecordTests {
    private static let now: UnixMilliseconds = 1_000_000
    private static let expires: UnixMilliseconds = 2_000_000

    private static func held(lease: Lease? = nil) -> RelayRecord {
        var record = RelayRecord(held: .alert, until: expires)
        record.lease = lease
        return record
    }

    @Test("It stays held until it expires, whatever happens to its lease and to the clock")
    func stays() {
        var record = Self.held()
        record.capWait(at: Self.now - 500_000, notBefore: nil, schedule: RetrySchedule())
        #expect(record == Self.held())
        // Its lease was released too early, or it was claimed before the clock was set back.
        record = Self.held(lease: Lease(owner: "me", until: Self.now + 1_000))
        record.nextAttempt = Self.now
        record.expire(at: Self.now, expires: Self.expires, owner: "me")
        #expect(record == Self.held())
        record.expire(at: Self.expires, expires: Self.expires)
        #expect(record.state == .expired && record.nextAttempt == nil && record.ended == Self.expires)
    }

    @Test("An approval stays in the trace however often the message is tried again")
    func trace() throws {
        var record = Self.held()
        try record.approve(by: "Ben", of: "Ann", at: ChangeTime(now: Self.now), notBefore: nil, expires: Self.expires)
        for number in 0..<50 {
            record.state = .failed
            try record.retry(by: "\(number)", at: ChangeTime(now: Self.now), expires: Self.expires)
        }
        #expect(record.trace?.count == 20)
        #expect(record.trace?.first == Intervention(action: .approve, at: Self.now, by: "Ben"))
        #expect(record.trace?.last?.by == "49")
    }

    @Test("Only a held message that has not expired can be approved")
    func noApproval() {
        for state in RelayState.allCases where state != .held {
            var record = Self.held()
            record.state = state
            #expect(throws: CommandFailure.self) {
                try record.approve(by: "Ben", of: "Ann", at: ChangeTime(now: Self.now), notBefore: nil, expires: Self.expires)
            }
        }
        var late = Self.held()
        #expect(throws: CommandFailure.self) {
            try late.approve(by: "Ben", of: "Ann", at: ChangeTime(now: Self.expires), notBefore: nil, expires: Self.expires)
        }
        #expect(late == Self.held())
    }
}
