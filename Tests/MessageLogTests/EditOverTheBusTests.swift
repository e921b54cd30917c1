import Bus
import Archive
import Schemas
import TestSupport
import Testing
import Base

@testable import MessageLog

/// Edits of messages that have not gone out, over the bus.
@Suite("Edits over the bus", .timeLimit(.minutes(10)))
struct EditOverTheBusTests {
    @Test(
        "A scheduled message goes out once, as edited and at its new time; one in flight or relayed cannot be edited",
        arguments: StoreKind.ofRules)
    func scheduled(_ kind: StoreKind) async throws {
        let gate = Gate()
        let relay = RelayDouble { command in
            if command.content.title == "in flight" { await gate.pass() }
            return command.components.map(\.accepted)
        }
        try await RunningMessageLog.with(relay, on: kind) { log in
            let stored = try await log.log(.sample("old", sendAt: .now + 600_000))
            // Long enough for the requests before it, on a busy machine.
            let soon = UnixMilliseconds.now + 15_000
            let edited = try await log.client.request(
                EditMessage(of: stored) { ($0.title, $0.message, $0.sendAt) = ("new", "New text", soon) }, context: .ann)
            #expect(edited.title == "new" && edited.sendAt == soon && edited.expires == soon + 3_600_000)
            #expect(edited.relay.state == .pending && edited.relay.nextAttempt == soon)
            #expect(edited.timestamp == stored.timestamp && edited.sender == stored.sender)
            #expect(edited.relay.trace?.map(\.action) == [.edit] && edited.relay.trace?.map(\.by) == ["Ann"])
            #expect(try await log.message(stored.msiKey) == edited)
            _ = try await log.wait(for: stored.msiKey) { $0.state == .relayed }
            #expect(UnixMilliseconds.now >= soon)
            #expect(relay.asked.map(\.content.title) == ["new"] && relay.asked.map(\.content.message) == ["New text"])
            let gone = await log.client.failure(of: EditMessage(of: edited) { $0.title = "late" }, context: .ann)
            #expect(gone?.status == .conflict && gone?.message.contains("relayed") == true)

            let held = try await log.log(.sample("in flight"))
            try await eventually { !relay.asked(held.msiKey).isEmpty }
            let underWay = await log.client.failure(of: EditMessage(of: held) { $0.title = "late" }, context: .ann)
            #expect(underWay?.status == .conflict)
            gate.open()
            _ = try await log.wait(for: held.msiKey) { $0.state == .relayed }
            #expect(try await log.message(held.msiKey).title == "in flight")

            let unknown = await log.client.failure(
                of: EditMessage(of: .sample(.sample("unknown"))) { $0.title = "x" }, context: .ann)
            #expect(unknown?.status == .notFound)
            #expect(await log.client.failure(of: EditMessage(of: stored) { _ in })?.status == .unauthenticated)
        }
    }

    @Test("Without a time an edited message goes out now, and counts as scheduled for now", arguments: StoreKind.ofRules)
    func immediate(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind) { log in
            let stored = try await log.log(.sample("later") { $0.delay = 3_000 })
            let start = UnixMilliseconds.now
            let edited = try await log.client.request(
                EditMessage(of: stored) { ($0.title, $0.delay) = ("now", nil) }, context: .communicator)
            #expect(edited.delay == nil && edited.sendAt.map { (start...UnixMilliseconds.now).contains($0) } == true)
            _ = try await log.wait(for: stored.msiKey) { $0.state == .relayed }
            #expect(relay.asked.map(\.content.title) == ["now"])
        }
    }

    @Test(
        "A held message stays held, and is approved by somebody who has seen the edit and has not made one",
        arguments: StoreKind.ofRules)
    func approval(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        let (ben, carl) = (CallerContext(actor: "Ben"), CallerContext(actor: "Carl"))
        try await RunningMessageLog.with(relay, on: kind) { log in
            let stored = try await log.log(.sample("old", approval: true))
            let edited = try await log.client.request(EditMessage(of: stored) { $0.title = "by Ann" }, context: .ann)
            #expect(edited.relay.state == .held && edited.sendAt == nil && edited.relay.nextAttempt == edited.expires)
            let time = try #require(edited.relay.edited)
            func failure(_ context: CallerContext, _ seen: UnixMilliseconds?) async -> CommandFailure? {
                await log.client.failure(of: ApproveMessage(msiKey: stored.msiKey, edited: seen), context: context)
            }
            #expect(await failure(ben, nil)?.status == .conflict)
            #expect(await failure(ben, time - 1)?.field == "edited")
            #expect(await failure(.ann, time)?.status == .forbidden)
            #expect(await failure(CallerContext(actor: "aNN"), time)?.status == .forbidden)
            #expect(await failure(.communicator, time)?.status == .forbidden)
            let approved = try await log.client.request(
                ApproveMessage(msiKey: stored.msiKey, edited: time), context: ben)
            #expect(approved.relay.isApproved)
            _ = try await log.wait(for: stored.msiKey) { $0.state == .relayed }
            #expect(relay.asked.map(\.content.title) == ["by Ann"])

            // An approved message that is still scheduled needs another approval.
            let later = try await log.log(.sample("later", sendAt: .now + 600_000, approval: true))
            let ready = try await log.client.request(ApproveMessage(msiKey: later.msiKey), context: ben)
            #expect(ready.relay.state == .pending)
            let again = try await log.client.request(EditMessage(of: ready) { $0.desc = "changed" }, context: .communicator)
            #expect(again.relay.state == .held && !again.relay.isApproved)
            // So does one whose subject requires an approval only now.
            let free = try await log.log(.sample("free", sendAt: .now + 600_000))
            let bound = try await log.client.request(
                EditMessage(of: free, approval: true) { $0.desc = "changed" }, context: carl)
            #expect(bound.relay.state == .held && bound.approval == true)
        }
    }

    @Test("Of two people who edit the same text one is told; the same edit again changes nothing", arguments: StoreKind.allCases)
    func concurrent(_ kind: StoreKind) async throws {
        try await RunningMessageLog.with(on: kind) { log in
            let stored = try await log.log(.sample("old", sendAt: .now + 600_000))
            let first = EditMessage(of: stored, edited: 0) { $0.title = "first" }
            let edited = try await log.client.request(first, context: .ann)
            #expect(try await log.client.request(first, context: .ann) == edited)
            let second = EditMessage(of: stored, edited: 0) { $0.title = "second" }
            let failure = await log.client.failure(of: second, context: .communicator)
            #expect(failure?.status == .conflict && failure?.message.contains("Ann") == true)
            let informed = EditMessage(of: stored, edited: edited.relay.edited) { $0.title = "second" }
            let last = try await log.client.request(informed, context: .communicator)
            #expect(last.title == "second" && last.relay.trace?.count == 2)

            let command = LogMessage.sample("posted", idempotencyKey: "k", sendAt: .now + 600_000)
            let posted = try await log.log(command)
            let changed = try await log.client.request(EditMessage(of: posted) { $0.title = "edited" }, context: .ann)
            // The repeated post is answered with the message as it is.
            #expect(try await log.log(command) == changed)
        }
    }

    @Test("Its topic, its distribution and what it follows stay, and a blank is refused")
    func fixed() async throws {
        try await RunningMessageLog.with { log in
            let stored = try await log.log(.sample("old", sendAt: .now + 600_000))
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            for (change, field) in [
                ({ $0.topicKey = topic }, "draft.topic_key"), ({ $0.distribution = .information }, "draft.distribution"),
                ({ $0.follows = ObjectID() }, "draft.follows"), ({ $0.title = "{{room}}" }, "draft.title"),
                ({ ($0.delay, $0.sendAt) = (5, nil) }, "draft.delay"),
            ] as [((inout MessageContent) -> Void, String)] {
                let failure = await log.client.failure(of: EditMessage(of: stored, change), context: .ann)
                #expect(failure?.field == field, "\(String(describing: failure))")
            }
            #expect(try await log.message(stored.msiKey) == stored)
        }
    }
}

/// Which messages can be edited, with a test clock.
@Suite("Edits of records")
struct EditTests {
    private static let now: UnixMilliseconds = 1_000_000

    private static func message(
        sendAt: UnixMilliseconds? = now + 5_000, _ change: (inout RelayRecord) -> Void = { _ in }
    ) -> Message {
        let command = LogMessage.sample(timestamp: now - 5_000, sendAt: sendAt)
        var relay = RelayRecord(logged: .alert, due: sendAt ?? now - 5_000)
        change(&relay)
        return Message.sample(command, relay: relay)
    }

    private func canBeEdited(_ message: Message) -> Bool {
        var edited = message
        let edit = EditMessage(
            msiKey: message.msiKey, content: message.content, names: message.names, expires: message.expires + 1)
        return (try? edited.edit(edit, by: "Ann", at: ChangeTime(now: Self.now))) != nil
    }

    @Test("Only a message that is not due and was never taken, or that waits for an approval, can be edited")
    func states() {
        #expect(canBeEdited(Self.message()))
        #expect(canBeEdited(Self.message(sendAt: nil) { ($0.state, $0.nextAttempt) = (.held, 9_000_000) }))
        #expect(!canBeEdited(Self.message(sendAt: nil)))
        #expect(!canBeEdited(Self.message(sendAt: Self.now)))
        // A relay may have had it: the lease is over, an attempt was made, or a part is accepted.
        #expect(!canBeEdited(Self.message { $0.lease = Lease(owner: "dead", until: Self.now) }))
        #expect(!canBeEdited(Self.message { $0.lease = Lease(owner: "me", until: Self.now + 1) }))
        #expect(!canBeEdited(Self.message { $0.attempts = 1 }))
        #expect(!canBeEdited(Self.message { $0.components[0].state = .accepted }))
        #expect(!canBeEdited(Self.message { $0.nextAttempt = Self.now }))
        for state in [RelayState.relayed, .failed, .expired, .recalled] {
            #expect(!canBeEdited(Self.message { ($0.state, $0.nextAttempt) = (state, nil) }))
        }
        #expect(!canBeEdited(Self.message { $0.holdAfterRestore(by: "ann", at: 5, expires: 9_000_000) }))
        var expired = Self.message { ($0.state, $0.nextAttempt) = (.held, Self.now) }
        expired.expires = Self.now
        #expect(!canBeEdited(expired))
    }
}

extension EditMessage {
    /// An edit of a message. Without a time its lifetime begins when the message was to go out.
    fileprivate init(
        of message: Message, approval: Bool? = nil, edited: UnixMilliseconds? = nil, _ change: (inout MessageContent) -> Void
    ) {
        var draft = message.content
        change(&draft)
        self.init(
            msiKey: message.msiKey, content: draft, names: message.names,
            expires: draft.sendAt.map { $0 + 3_600_000 } ?? message.expires, approval: approval, edited: edited)
    }
}
