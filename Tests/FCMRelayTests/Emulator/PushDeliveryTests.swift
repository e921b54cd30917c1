import Bus
import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

/// `push.relay` of the relay's executable, beside an FCM that checks every field.
@Suite("Pushes beside the emulator", .timeLimit(.minutes(10)))
struct PushDeliveryTests {
    private func relay(_ relay: RelayBesideEmulator, _ push: RelayPush) async throws -> [Result<String, DeliveryError>] {
        try await relay.client.request(push, timeout: .seconds(60)).results.map(\.result)
    }

    @Test("A full FCM message reaches topics, conditions and phones, with a result for each token")
    func delivery() async throws {
        try await withRelayBesideEmulator { beside in
            let message: JSONValue = [
                "data": ["kind": "friend"], "notification": ["title": "Ann", "body": "says hello"],
                "android": ["priority": "high", "notification": ["channel_id": "friends", "color": "#20A0FF"]],
                "apns": ["headers": ["apns-priority": "10"], "payload": ["aps": ["sound": "default"]]],
                "fcm_options": ["analytics_label": "friends"],
            ]
            let phones = [try await beside.registerPhone(), try await beside.registerPhone()]
            let gone = try await beside.registerPhone()
            let removed = try await beside.fcm.call(.DELETE, "/emulator/devices/\(gone)")
            #expect((200..<300).contains(Int(removed.status)))
            let recipients: [PushRecipient] = [.token(phones[0]), .token(gone), .token(phones[1])]
            let push = RelayPush(pushID: ObjectID(), recipients: recipients, message: message, expires: .now + 60_000)
            let results = try await relay(beside, push)
            #expect(throws: Never.self) { try results[0].get() }
            #expect(throws: Never.self) { try results[2].get() }
            let error = try #require(results[1].failure)
            #expect(error.isUnregistered && error.class == .permanent)
            let sent = try await beside.fcm.acceptedSends().compactMap { $0["body"]?["message"] }
            #expect(Set(sent.compactMap { $0["token"]?.string }) == Set(phones))
            #expect(sent.allSatisfy { $0["data"]?["kind"] == "friend" && $0["android"]?["priority"] == "HIGH" })

            for recipient in [PushRecipient.topic("news"), .condition("'a' in topics && !('b' in topics)")] {
                let results = try await relay(
                    beside, RelayPush(pushID: ObjectID(), recipients: [recipient], message: message))
                #expect(throws: Never.self) { try results[0].get() }
            }
            // The relay remembers the push, and sends it to no recipient again.
            let again = try await relay(beside, push)
            #expect(again[0] == results[0] && again[2] == results[2])
            #expect(try await beside.fcm.acceptedSends().count == 4)
        }
    }
}
