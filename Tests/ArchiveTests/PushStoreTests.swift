import Store
import GRDB
import Base
import Schemas
import TestSupport
import Testing

@testable import Archive

/// The requirements for pushes in every archive, for both databases.
@Suite("Push store", .timeLimit(.minutes(10)))
struct PushStoreTests {
    static func push(
        _ key: String, sender: String = "people", fairnessKey: String = "people", urgency: Urgency = .high,
        recipients: [PushRecipient] = [.topic("news")], message: JSONValue = ["data": ["a": "b"]],
        logged: UnixMilliseconds = 1_000, expires: UnixMilliseconds = 9_000_000, notBefore: UnixMilliseconds? = nil,
        lease: Lease? = nil
    ) -> Push {
        var relay = PushRecord(logged: recipients, due: notBefore ?? logged)
        if let lease { (relay.lease, relay.nextAttempt) = (lease, lease.until) }
        return Push(
            sender: sender, idempotencyKey: key, transport: .fcm, fairnessKey: fairnessKey, message: message, urgency: urgency,
            logged: logged, expires: expires, notBefore: notBefore, relay: relay)
    }

    private func finish(_ pushes: [Push], in store: any MessageStore, at ended: UnixMilliseconds) async throws {
        for push in pushes {
            try await store.update(push: push.id) { record, _ in
                (record.state, record.nextAttempt, record.ended) = (.relayed, nil, ended)
            }
        }
    }

    @Test(
        "A push is read back as it was stored, with names that have dots, and with what became of each token",
        arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var push = Self.push(
                "k", recipients: (0..<1_000).map { .token("token-\($0)-" + String(repeating: "x", count: 150)) },
                message: ["data": ["a.b": "c$", "ä": "😀"], "apns": ["payload": ["aps": [:], "x": [1, true, "2"]]]],
                notBefore: 2_000)
            push.project = "p"
            push.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let known = try await store.insert(push)
            #expect(known == nil)
            #expect(try await store.push(push.id) == push)
            #expect(try await store.push(ObjectID()) == nil)
            for index in push.relay.recipients.indices {
                push.relay.recipients[index].state = index % 2 == 0 ? .accepted : .failed
                push.relay.recipients[index].name = index % 2 == 0 ? "projects/p/messages/\(index)" : nil
                push.relay.recipients[index].acceptedAt = index % 2 == 0 ? 7 : nil
                push.relay.recipients[index].error = index % 2 == 0 ? nil : DeliveryError(.unregistered)
            }
            push.relay.trace = [Intervention(action: .retry, at: 5, by: "ann")]
            let record = push.relay
            #expect(try await store.update(push: push.id) { stored, _ in stored = record } == push)
            #expect(try await store.push(push.id) == push)
            #expect(try await store.push(of: "people", idempotencyKey: "k") == push)
        }
    }

    @Test(
        "A sender's key is stored once, even when it comes many times at once; another sender may have the same",
        arguments: StoreKind.allCases)
    func idempotent(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let stored = try await concurrently(20) { _ in try await store.insert(Self.push("k")) }
            #expect(stored.count { $0 == nil } == 1)
            let known = try #require(try await store.push(of: "people", idempotencyKey: "k"))
            #expect(stored.allSatisfy { $0 == nil || $0 == known })
            #expect(try await store.insert(Self.push("k", sender: "study")) == nil)
            #expect(try await store.pushes(after: nil, limit: 9).count == 2)
        }
    }

    @Test(
        "Pushes and messages are claimed together: the longest due first, by urgency, and each key has its share",
        arguments: StoreKind.allCases)
    func claims(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            for number in 0..<30 {
                _ = try await store.insert(
                    Self.push("\(number)", fairnessKey: "flood", logged: UnixMilliseconds(rawValue: Int64(number))))
                _ = try await store.insert(
                    MessageStoreTests.message("message", at: UnixMilliseconds(rawValue: Int64(500 + number)), topic: topic))
            }
            for number in 0..<3 { _ = try await store.insert(Self.push("q\(number)", fairnessKey: "quiet", logged: 900)) }
            _ = try await store.insert(Self.push("later", fairnessKey: "quiet", notBefore: 5_000))
            _ = try await store.insert(Self.push("normal", urgency: .normal))
            let lease = Lease(owner: "me", until: 10_000)
            let claimed = try await store.claim(Claim(.high, limit: 15, maxPerKey: 15), lease: lease, now: 1_000)
            #expect(claimed.count == 15)
            #expect(claimed.count { $0.fairnessKey == .named("flood") } == 6)
            #expect(claimed.count { $0.fairnessKey == .topic(topic) } == 6)
            #expect(claimed.count { $0.fairnessKey == .named("quiet") } == 3)
            #expect(claimed.allSatisfy { $0.record.lease == lease && $0.record.nextAttempt == 10_000 })
            let flooded = claimed.compactMap(\.push).filter { $0.fairnessKey == "flood" }.map(\.logged)
            #expect(flooded.sorted() == [0, 1, 2, 3, 4, 5])
            let room = Claim(.high, limit: 9, maxPerKey: 9, room: [.named("flood"): 0, .topic(topic): 1])
            #expect(try await store.claim(room, lease: lease, now: 1_000).map(\.fairnessKey) == [.topic(topic)])
            let normal = try await store.claim(Claim(.normal, limit: 9, maxPerKey: 9), lease: lease, now: 1_000)
            #expect(normal.map(\.push?.idempotencyKey) == ["normal"])
            try await store.releaseLeases(of: "me", now: 2_000)
            #expect(try await store.claim(Claim(.normal, limit: 9, maxPerKey: 9), lease: lease, now: 2_000).count == 1)
        }
    }

    @Test(
        "Among many keys that wait, and behind a key with many due pushes, each key has its share, the longest waiting first",
        arguments: StoreKind.allCases)
    func manyKeys(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            func insert(_ count: Int, keys: Int, _ prefix: String, due: Int64) async throws {
                try await concurrently(count) { number in
                    let time = UnixMilliseconds(rawValue: due + Int64(number))
                    _ = try await store.insert(
                        Self.push("\(prefix) \(number)", fairnessKey: "\(prefix) \(number % keys)", logged: time))
                }
            }
            func claim(_ limit: Int, room: [FairnessKey: Int] = [:]) async throws -> [String] {
                let lease = Lease(owner: "o", until: 9_000_000)
                let items = try await store.claim(
                    Claim(.high, limit: limit, maxPerKey: limit, room: room), lease: lease, now: 100_000)
                try await store.releaseLeases(of: "o", now: 200_000)
                for item in items {
                    guard let push = item.push else { continue }
                    try await store.update(push: push.id) { record, _ in record.nextAttempt = push.logged }
                }
                return items.compactMap(\.push?.idempotencyKey)
            }
            let many = kind.moreThanAPage
            try await insert(many, keys: many, "waiting", due: 1_000_000)
            try await insert(3, keys: 3, "quiet", due: 50_000)
            #expect(try await claim(9) == ["quiet 0", "quiet 1", "quiet 2"])
            try await insert(many, keys: 2, "flood", due: 10_000)
            let flooded = ["flood 0", "flood 1", "quiet 0", "quiet 1", "quiet 2"]
            #expect(try await claim(5) == flooded)
            #expect(try await claim(7).sorted() == (flooded + ["flood 2", "flood 3"]).sorted())
            let noRoom: [FairnessKey: Int] = [.named("flood 0"): 0, .named("flood 1"): 1]
            #expect(try await claim(9, room: noRoom) == ["flood 1", "quiet 0", "quiet 1", "quiet 2"])
            try await insert(many, keys: many, "each", due: 1_000)
            #expect(try await claim(20) == (0..<20).map { "each \($0)" })
        }
    }

    @Test(
        "Fairness keys with the same characters in other bytes are two keys, even behind many due pushes and among many keys",
        arguments: StoreKind.allCases)
    func keysByBytes(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            #expect(Set([FairnessKey.named(composed), .named(decomposed)]).count == 2)
            func insert(_ count: Int, due: UnixMilliseconds, key: @escaping @Sendable (Int) -> String) async throws {
                try await concurrently(count) { number in
                    try await store.insert(Self.push("\(due) \(number)", fairnessKey: key(number), logged: due))
                }
            }
            func counts(_ claim: Claim) async throws -> [FairnessKey: Int] {
                let items = try await store.claim(claim, lease: Lease(owner: "o", until: 9_000_000), now: 5_000)
                try await store.releaseLeases(of: "o", now: 3_000)
                return Dictionary(grouping: items, by: \.fairnessKey).mapValues(\.count)
            }
            // More than are read at a time, so that the keys are searched one by one.
            try await insert(1, due: 1_000) { _ in composed }
            try await insert(kind.moreThanAPage, due: 3_000) { _ in decomposed }
            let claim = Claim(.high, limit: 9, maxPerKey: 9)
            #expect(try await counts(claim) == [.named(composed): 1, .named(decomposed): 8])
            let noRoom = Claim(.high, limit: 9, maxPerKey: 9, room: [.named(decomposed): 0])
            #expect(try await counts(noRoom) == [.named(composed): 1])
            // More keys than are searched one by one.
            try await insert(kind.moreThanAPage, due: 8_000_000) { "waiting \($0)" }
            #expect(try await counts(claim) == [.named(composed): 1, .named(decomposed): 8])
        }
    }

    @Test("Each push goes to one of many concurrent claimants, and no change of a record is lost", arguments: StoreKind.allCases)
    func concurrency(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<40 { _ = try await store.insert(Self.push("\(number)")) }
            let claimed = try await concurrently(8) { owner in
                try await store.claim(MessageStoreTests.claim(8), lease: Lease(owner: "\(owner)", until: 10_000), now: 2_000)
            }.flatMap(\.self)
            #expect(claimed.count == 40 && Set(claimed.map(\.key)).count == 40)
            try await concurrently(50) { _ in try await store.update(claimed[0].key) { record, _ in record.attempts += 1 } }
            guard case .push(let id) = claimed[0].key else { return }
            #expect(try await store.push(id)?.relay.attempts == 50)
        }
    }

    @Test("Expired and waiting items are found among messages and pushes", arguments: StoreKind.allCases)
    func expiredAndWaiting(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let push = Self.push("push", expires: 2_000)
            let leased = Self.push("leased", expires: 2_000, lease: Lease(owner: "o", until: 5_000))
            let message = MessageStoreTests.message("message", expires: 1_500)
            let scheduled = Self.push("scheduled", notBefore: 60_000)
            for push in [push, leased, scheduled] { _ = try await store.insert(push) }
            _ = try await store.insert(message)
            #expect(try await store.expired(by: 3_000, limit: 9) == [.message(message.msiKey), .push(push.id)])
            #expect(try await store.expired(by: 3_000, limit: 1) == [.message(message.msiKey)])
            let waiting = try await store.waiting(after: 4_000) { _ in true }
            #expect(Set(waiting) == [.push(leased.id), .push(scheduled.id)])
            #expect(try await store.waiting(after: 4_000) { $0.notBefore(at: 4_000) != nil } == [.push(scheduled.id)])
        }
    }

    @Test("Old ended pushes are removed after old messages; the others stay", arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let old = (Int64(0)..<3).map { Self.push("old \($0)", logged: UnixMilliseconds(rawValue: 100 + $0)) }
            let (outstanding, late, new) = (
                Self.push("outstanding", logged: 50), Self.push("late", logged: 60), Self.push("new", logged: 5_000)
            )
            for push in old + [outstanding, late, new] { _ = try await store.insert(push) }
            try await finish(old + [new], in: store, at: 500)
            try await finish([late], in: store, at: 2_000)
            #expect(try await store.removeArchived(before: 1_000, limit: 2) == 2)
            #expect(try await store.removeArchived(before: 1_000, limit: 2) == 1)
            #expect(try await store.removeArchived(before: 1_000, limit: 2) == 0)
            #expect(Set(try await store.pushes(after: nil, limit: 9).map(\.idempotencyKey)) == ["outstanding", "late", "new"])
        }
    }

    @Test(
        "A push whose row another program has written in another form can be changed: it is compared as stored",
        arguments: [
            #"trace = '[ {"by":"ann", "at":5, "action":"retry", "why":"a newer field"} ]'"#, "leaseOwner = CAST('o' AS BLOB)",
        ])
    func foreignForm(assignment: String) async throws {
        try await withMessagePlace(.sqlite) { place in
            let store = try await place.open()
            var push = Self.push("k", lease: Lease(owner: "o", until: 5_000))
            push.relay.trace = [Intervention(action: .retry, at: 5, by: "ann")]
            let id = push.id
            _ = try await store.insert(push)
            let file = try EmbeddedDatabase(path: place.folder + "/message-log.sqlite", durability: .processCrash) { _ in }
            try await file.write {
                try $0.execute(sql: "UPDATE push SET \(assignment)")
                let row = try #require(try PushRow.find(id, in: $0))
                #expect(try row.replace(row, in: $0))
            }
            try file.close()
            push.relay.attempts = 1
            #expect(try await store.update(push: push.id) { record, _ in record.attempts += 1 } == push)
            #expect(try await store.push(push.id) == push)
            try await store.close()
        }
    }

    @Test(
        "A command for a push that cannot be read conflicts with the stored one, and is not invalid itself",
        arguments: StoreKind.allCases)
    func unreadable(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let store = try await place.open()
            let push = Self.push("k")
            _ = try await store.insert(push)
            try await place.spoil(push: push.id)
            let commands: [@Sendable () async throws -> Push?] = [
                { try await store.push(push.id) }, { try await store.push(of: "people", idempotencyKey: "k") },
                { try await store.update(push: push.id) { record, _ in record.attempts += 1 } }, { try await store.insert(push) },
            ]
            for command in commands {
                let error = await #expect(throws: CommandFailure.self) { _ = try await command() }
                #expect(error?.status == .conflict && error?.message.contains("push \(push.id) cannot be read") == true)
            }
            try await store.close()
        }
    }

    @Test("The pushes of a sender whose keys begin with a text are read page by page", arguments: StoreKind.allCases)
    func keyPrefix(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let wanted = ["a/0/x", "a/1/x", "a/10/x", "a/2/ä"]
            for key in wanted + ["a", "a/", "a0", "A/3/x", "b/0/x"] { _ = try await store.insert(Self.push(key)) }
            _ = try await store.insert(Self.push("a/4/x", sender: "study"))
            var (read, last): ([String], String?) = ([], nil)
            while case let page = try await store.pushes(of: "people", keyPrefix: "a/", after: last, limit: 3), !page.isEmpty {
                read += page.map(\.idempotencyKey)
                last = page.last?.idempotencyKey
            }
            #expect(read == wanted)
        }
    }

    @Test("All pushes are read page by page, each once", arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let pushes = (0..<7).map { Self.push("\($0)") }
            for push in pushes { _ = try await store.insert(push) }
            var (read, last): ([Push], ObjectID?) = ([], nil)
            while case let page = try await store.pushes(after: last, limit: 3), !page.isEmpty {
                read += page
                last = page.last?.id
            }
            #expect(read == pushes.sorted { $0.id < $1.id })
        }
    }
}
