import Archive
import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import MessageLog

/// What the message log has of a person, and its erasure.
@Suite("Erased persons", .timeLimit(.minutes(10)))
struct ErasedPersonTests {
    private static let erased = AccountName.named("erased.student")

    private func log(_ key: String, to accounts: [AccountName], by log: RunningMessageLog) async throws -> ObjectID {
        // No people service is there, so that all of them wait.
        try await log.client.request(LogPush.persons(key, to: accounts), context: CallerContext(actor: "people")).push.id
    }

    @Test(
        "An erased person is in no push that waits and in no file, and the others of a push still get it",
        arguments: StoreKind.allCases)
    func erase(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind) { log in
            let alone = try await self.log("alone", to: [Self.erased], by: log)
            let shared = try await self.log("shared", to: [Self.erased, .ben], by: log)
            var held = try LogPush.persons("held", to: [.named("ERASED.student")])
            held.held = true
            let holding = try await log.client.request(held, context: CallerContext(actor: "people")).push.id
            let reply = try await whenAvailable { try await log.client.request(ErasePerson(Self.erased)) }
            #expect(reply.removed.map(\.what) == ["pushes"])
            #expect(reply.stays == ["messages that the account has sent, with its name"])
            let again = try await whenAvailable { try await log.client.request(ErasePerson(Self.erased)) }
            #expect(again.removed == [ErasedData(what: "pushes", count: 0)])
            for id in [alone, holding] {
                try await eventually("it has ended without a recipient") {
                    let push = try await log.client.request(GetPush(pushID: id))
                    return push.relay.state == .relayed && push.recipients.isEmpty
                }
            }
            #expect(try await log.client.request(GetPush(pushID: shared)).recipients == [.account("ben")])
            if kind == .sqlite {
                for suffix in ["", "-wal", "-shm"] {
                    let file = try Data(contentsOf: URL(filePath: log.folder + "/message-log.sqlite" + suffix))
                    #expect(!String(decoding: file, as: UTF8.self).lowercased().contains(Self.erased.key), "\(suffix)")
                }
            }
            try await PeopleDouble([.phone(of: .ben, "t1"), .phone(of: Self.erased, "t2")]).run(in: log.folder) {
                try await eventually { try await log.client.request(GetPush(pushID: shared)).relay.state == .relayed }
            }
            #expect(relay.askedPushes.map(\.recipients) == [[.token("t1")]])
        }
    }

    @Test("An erasure counts the pushes of the person, and a turn that has read the name before does not store it again")
    func count() async throws {
        try await withArchive { store in
            let outbox = Outbox.sample(store, AcceptingRelay())
            var pushes: [Push] = []
            for (number, accounts) in [[Self.erased, .ben], [Self.erased], [.ben]].enumerated() {
                let command = try LogPush.persons("\(number)", to: accounts)
                let content = try #require(try StoredPersonPush(command))
                pushes.append(
                    Push(
                        sender: "people", idempotencyKey: "\(number)", transport: .webpush, fairnessKey: "friends",
                        message: try content.json, urgency: .high, logged: .now, expires: command.expires,
                        relay: PushRecord(
                            logged: command.recipients, by: .webpush, due: .now + 600_000, expires: command.expires)))
            }
            pushes[0].relay.takeLease(Lease(owner: "me", until: .now + 30_000), for: OutboxQueues([.fcm, .blocks]))
            for push in pushes { _ = try await store.insert(push) }
            #expect(try await outbox.erase(Self.erased) == 2)
            // The turn of the first one ends without an answer of the people service.
            let failure = DeliveryError(.peopleUnreachable, retryAfter: 2_000)
            await outbox.record(
                [AttemptOutcome(.fcm, .unreachable(failure)), AttemptOutcome(.webpush, .unreachable(failure))],
                of: .push(pushes[0]))
            let stored = try #require(try await store.push(pushes[0].id))
            #expect(stored.recipients == [.account("ben")] && stored.relay.lease == nil)
            #expect(stored.relay.recipients[0].error == failure)
            #expect(try await outbox.erase(Self.erased) == 0)
        }
    }

    @Test("An export has the pushes that wait for the person, page by page, and nothing of others", arguments: StoreKind.allCases)
    func export(_ kind: StoreKind) async throws {
        try await RunningMessageLog.with(on: kind) { log in
            var ids: [ObjectID] = []
            for number in 0..<101 { ids.append(try await self.log("\(number)", to: [.ann, .ben], by: log)) }
            _ = try await self.log("other", to: [.ben], by: log)
            let first = try await log.client.request(ExportPerson(.ann))
            let next = try #require(first.next)
            let last = try await log.client.request(ExportPerson(.ann, after: next))
            #expect(first.files.keys.sorted() == ["pushes.json"] && last.next == nil)
            let pushes = [first, last].flatMap { $0.files["pushes.json"] ?? [] }
            #expect(pushes.compactMap { $0["push_id"]?.string } == ids.sorted().map(\.description))
            #expect(pushes[0]["kind"]?.string == "friend_request" && pushes[0]["link"]?.string == "#people/requests")
            #expect(!String(decoding: pushes[0].data, as: UTF8.self).contains("ben"))
            #expect(try await log.client.request(ExportPerson(Self.erased)).files == ["pushes.json": []])
            let wrong = await log.client.failure(of: ExportPerson(.ann, after: "x"))
            #expect(wrong?.status == .invalid && wrong?.field == "after")
        }
    }
}
