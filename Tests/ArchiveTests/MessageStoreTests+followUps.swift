import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// Drills, delays, templates, follow-ups and held messages in the archive.
extension MessageStoreTests {
    @Test(
        "A message is read back as it was stored; its optional fields are absent by default",
        arguments: StoreKind.allCases)
    func optionalFields(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var all = Self.message {
                ($0.delay, $0.drill, $0.follows, $0.correction, $0.template) = (30, true, ObjectID(), true, ObjectID())
                ($0.ttl, $0.sendAt) = (60, 2_000)
                $0.options = DeliveryOptions(
                    image: "https://cdn.test/a.png", link: "tel:112", collapseKey: "k", analyticsLabel: "l",
                    android: .init(channelID: "c"), apns: .init(category: "A"))
                $0.values = ["room": "B \"12\"", "when": "😀"]
            }
            (all.approval, all.idempotencyKey) = (true, "key")
            all.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            all.relay.lease = Lease(owner: "o", until: 5)
            all.relay.webpushAttempt = 5
            (all.relay.ended, all.relay.accepted) = (7, 6)
            all.relay.trace = [
                Intervention(action: .approve, at: 4, by: "Ben"),
                // By a newer version.
                Intervention(action: Intervention.Action(rawValue: "postpone"), at: 5, by: "Ben"),
            ]
            // No optional field is forgotten here.
            #expect(Self.absentFields(of: all) == ["followUps", "followUpTopics", "receipts"])
            #expect(Self.absentFields(of: all.relay).isEmpty)
            let empty = Self.message { ($0.values, $0.options) = ([:], DeliveryOptions(collapseKey: "k")) }
            let plain = Self.message()
            for message in [all, empty, plain] {
                #expect(try await store.insert(message) == nil)
                #expect(try await store.message(message.msiKey) == message)
            }
            #expect(try await store.message(ObjectID()) == nil)
            let read = try #require(try await store.message(plain.msiKey))
            #expect(
                read.delay == nil && read.drill == nil && read.follows == nil && read.correction == nil && read.template == nil)
            #expect(read.values == nil && read.followUps == nil && read.approval == nil)
        }
    }

    private static func absentFields(of value: Any) -> [String] {
        Mirror(reflecting: value).children.filter { "\($0.value)" == "nil" }.compactMap(\.label)
    }

    @Test("The corrections of a message are found with their states, and no other follow-ups", arguments: StoreKind.allCases)
    func corrections(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let first = Self.message("1")
            let corrections = (0..<2).map { number in
                Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(number)), follows: first.msiKey) {
                    $0.correction = true
                }
            }
            let other = Self.message("o", follows: corrections[0].msiKey) { $0.correction = true }
            for message in [first, Self.message("f", follows: first.msiKey), other] + corrections {
                _ = try await store.insert(message)
            }
            try await finish([corrections[1]], in: store, as: .failed)
            #expect(
                try await Set(store.corrections(of: first.msiKey)) == [
                    Correction(msiKey: corrections[0].msiKey, timestamp: 0, state: .pending),
                    Correction(msiKey: corrections[1].msiKey, timestamp: 1, state: .failed),
                ])
            #expect(try await store.corrections(of: ObjectID()).isEmpty)
        }
    }

    private static func followUp(_ message: Message) -> FollowUp {
        FollowUp(msiKey: message.msiKey, topicKey: message.topicKey)
    }

    @Test(
        "The newest follow-ups of messages are found, oldest first, including those of a removed message",
        arguments: StoreKind.allCases)
    func followUps(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (first, second, third) = (Self.message("1"), Self.message("2"), Self.message("3"))
            for message in [first, second, third] { _ = try await store.insert(message) }
            var followUps: [Message] = []
            for number in 0...maxFollowUps {
                let time = UnixMilliseconds(rawValue: Int64(2_000 + number))
                followUps.append(Self.message("f\(number)", at: time, follows: first.msiKey))
            }
            let other = Self.message("o", at: 3_000, follows: second.msiKey)
            for message in followUps.reversed() + [other] { _ = try await store.insert(message) }
            let expected = [first.msiKey: followUps.dropFirst().map(Self.followUp), second.msiKey: [Self.followUp(other)]]
            let all = [first, second, third].map(\.msiKey)
            #expect(try await store.followUps(of: all) == expected)
            #expect(try await store.followUps(of: [third.msiKey]) == [:])
            #expect(try await store.followUps(of: []) == [:])

            try await finish([first], in: store)
            #expect(try await store.removeArchived(before: 1_500, limit: 10) == 1)
            #expect(try await store.message(first.msiKey) == nil)
            #expect(try await store.followUps(of: all) == expected)
        }
    }

    @Test("A held message is not claimed before it expires, and is found by its state", arguments: StoreKind.allCases)
    func held(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var held = Self.message("held")
            held.relay = RelayRecord(held: .alert, until: held.expires)
            _ = try await store.insert(held)
            #expect(try await store.message(held.msiKey) == held)
            let lease = Lease(owner: "o", until: 99_000_000)
            #expect(try await store.claim(Self.claim(5), lease: lease, now: held.expires - 1).isEmpty)
            #expect(try await store.expired(by: held.expires - 1, limit: 5) == [])
            #expect(try await store.expired(by: held.expires, limit: 5) == [.message(held.msiKey)])
            #expect(try await store.removeArchived(before: 5_000_000, limit: 5) == 0)
            #expect(try await titles(store) { $0.state = .held } == ["held"])
            #expect(try await titles(store) { $0.state = .pending } == [])
        }
    }
}
