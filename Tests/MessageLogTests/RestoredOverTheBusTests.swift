import Bus
import Base
import Archive
import Store
import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// What is held since a restore, over the bus.
@Suite("Held since a restore", .timeLimit(.minutes(10)))
struct RestoredOverTheBusTests {
    @Test(
        "Nothing that was restored goes to FCM before its release; released it goes out once, discarded never, and it expires otherwise",
        arguments: StoreKind.allCases)
    func life(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await withDatabase(kind) { folder, settings in
            let (one, other, gone, approvable, push) = try await RunningMessageLog.with(in: folder, settings: settings) { log in
                // No relay runs, so all of them wait.
                let push = try await log.client.request(LogPush.sample(), context: .communicator).push
                let gone = try await log.log(.sample("gone", lifetime: 20_000))
                _ = try await log.wait(for: gone.msiKey) { $0.components[0].error != nil }
                return (
                    try await log.log(.sample("one")), try await log.log(.sample("other")), gone,
                    try await log.log(.sample("approvable", approval: true)), push
                )
            }
            let database = try settings["MSI_DATABASE_URL"].map { try MongoURL($0) }
            let store = try await openMessageStore(database: database, folder: folder, logger: quietLogger)
            #expect(try await store.holdAfterRestore(by: "msi restore", at: .now) == 5)
            try await store.close()

            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    let client = log.client
                    let first = try await client.request(ListHeld(limit: 2))
                    // On a busy machine one of the five has expired by now.
                    #expect((4...5).contains(first.count) && first.items.count == 2)
                    let rest = try await client.request(ListHeld(after: first.next))
                    #expect(rest.next == nil && Set((first.items + rest.items).map(\.key)).count >= 4)
                    #expect((first.items + rest.items).first { $0.kind == .push }?.key == push.id)

                    // A new message goes out as always.
                    let new = try await log.log(.sample("new"))
                    _ = try await log.wait(for: new.msiKey) { $0.state == .relayed }
                    let early = await client.failure(of: ApproveMessage(msiKey: approvable.msiKey), context: .ann)
                    #expect(early?.status == .conflict && early?.message.contains("msi outbox release") == true)

                    let over = try await log.wait(for: gone.msiKey) { $0.state == .expired }
                    // The error of the last attempt says more than that it was not released.
                    #expect(over.attempts == 0 && over.components.allSatisfy { $0.error?.code == "RELAY_UNREACHABLE" })
                    for key in [one, other, gone, approvable].map(\.msiKey) { #expect(relay.asked(key).isEmpty) }

                    let unknown = ObjectID()
                    let keys = [one.msiKey, approvable.msiKey, push.id, gone.msiKey, unknown]
                    let released = try await client.request(ReleaseHeld(keys: keys), context: .ann)
                    #expect(released.done == [one.msiKey, approvable.msiKey, push.id])
                    #expect(released.refused.map(\.key) == [gone.msiKey, unknown])
                    #expect(released.refused.map(\.status) == [.conflict, .notFound])
                    let done = try await log.wait(for: one.msiKey) { $0.state == .relayed }
                    #expect(done.trace?.map(\.action) == [.restore, .release] && done.trace?.last?.by == "Ann")
                    #expect(relay.asked(one.msiKey).count == 1)
                    try await eventually("the push goes out") {
                        try await client.request(GetPush(pushID: push.id)).relay.state == .relayed
                    }
                    // It still needs the approval of another account.
                    #expect(try await log.message(approvable.msiKey).relay.state == .held)
                    #expect(relay.asked(approvable.msiKey).isEmpty)
                    _ = try await client.request(ApproveMessage(msiKey: approvable.msiKey), context: .ann)
                    _ = try await log.wait(for: approvable.msiKey) { $0.state == .relayed }

                    let discarded = try await client.request(DiscardHeld(keys: [other.msiKey]), context: .ann)
                    #expect(discarded == HeldOutcome(done: [other.msiKey]))
                    #expect(try await log.message(other.msiKey).relay.state == .recalled)
                    #expect(relay.asked(other.msiKey).isEmpty)
                    #expect(try await client.request(ListHeld()).count == 0)
                    let nameless = await client.failure(of: DiscardHeld(keys: [other.msiKey]))
                    #expect(nameless?.status == .unauthenticated)
                    #expect(await client.failure(of: ReleaseHeld(keys: []), context: .ann)?.status == .invalid)
                }
            }
        }
    }

    @Test("A push that is logged as held waits for its release, and its repeat changes nothing")
    func heldPush() async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay) { log in
            var command = LogPush.sample()
            command.held = true
            let push = try await log.client.request(command, context: .communicator).push
            #expect(push.relay.isHeldByRestore)
            command.held = nil
            #expect(try await log.client.request(command, context: .communicator).push.id == push.id)
            let later = try await log.log(.sample("later"))
            _ = try await log.wait(for: later.msiKey) { $0.state == .relayed }
            #expect(try await log.client.request(GetPush(pushID: push.id)).relay.state == .held)
            _ = try await log.client.request(ReleaseHeld(keys: [push.id]), context: .ann)
            try await eventually("it goes out") {
                try await log.client.request(GetPush(pushID: push.id)).relay.state == .relayed
            }
        }
    }

    @Test("A record with accepted parts keeps them, whether it is released, discarded or expires")
    func acceptedParts() throws {
        var record = RelayRecord(logged: .alert, due: 1_000)
        (record.state, record.attempts, record.components[0].state) = (.retrying, 2, .accepted)
        record.holdAfterRestore(by: "msi restore", at: 2_000, expires: 9_000)
        #expect(record.isHeldByRestore && record.components.map(\.state) == [.accepted, .pending])

        var released = record
        // A turn was about to end it as expired when the clock was set back.
        released.lease = Lease(owner: "me", until: 40_000)
        try released.release(
            by: "ann", at: ChangeTime(now: 3_000), notBefore: 5_000, needsApproval: false, expires: 9_000)
        #expect(released.state == .retrying && released.nextAttempt == 5_000 && !released.isHeldByRestore)
        #expect(released.lease == nil)
        var discarded = record
        try discarded.discard(by: "ann", at: ChangeTime(now: 3_000))
        #expect(
            discarded.state == .recalled && discarded.nextAttempt == nil
                && discarded.components.map(\.state) == [.accepted, .recalled])
        var expired = record
        expired.expire(at: 9_000, expires: 9_000)
        #expect(expired.state == .expired && expired.components[1].error == .neverReleased)
        #expect(throws: CommandFailure.self) {
            try expired.release(by: "ann", at: ChangeTime(now: 3_000), notBefore: nil, needsApproval: false, expires: 9_000)
        }
        var late = record
        #expect(throws: CommandFailure.self) {
            try late.release(by: "ann", at: ChangeTime(now: 9_000), notBefore: nil, needsApproval: false, expires: 9_000)
        }
    }
}
