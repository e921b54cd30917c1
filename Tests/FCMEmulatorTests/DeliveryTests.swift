import NIOCore
import NIOHTTP1
import Testing
import TestSupport

@testable import FCMEmulator

/// Which messages phones get, and when.
@Suite("Delivery to emulated phones")
struct DeliveryTests {
    @Test("A message to a topic reaches its subscribers, and no other phone")
    func aTopicReachesItsSubscribersAndNobodyElse() async throws {
        try await withEmulator { client in
            let (ann, bob, carl) = (
                try await client.registerPhone(), try await client.registerPhone(), try await client.registerPhone()
            )
            try await client.subscribe([ann, bob], to: "news")
            try await client.subscribe([carl], to: "sport")
            var annsStream = try await client.listen(ann)
            #expect(try await client.sendMark("1", to: ("topic", "news")).status == 200)
            #expect(try await client.sendMark("2", to: ("topic", "sport")).status == 200)
            #expect(try await client.sendMark("3", to: ("topic", "news")).status == 200)
            #expect(try await annsStream.marks(2) == ["1", "3"])
            // Bob's phone was off, so the message waits.
            #expect(try await client.everything(for: bob) == ["1", "3"])
            #expect(try await client.everything(for: carl) == ["2"])
        }
    }

    @Test("An event has the fields that the SDK on a phone shows")
    func anEventIsWhatThePhonesSDKSees() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            try await client.subscribe([phone], to: "t")
            var stream = try await client.listen(phone)
            let answer = try await client.send(
                #"{"message":{"topic":"t","notification":{"title":"Héllo \"you\"","body":"مرحبا 🎓"},"data":{"msi_key":"k"},"#
                    + #""android":{"priority":"HIGH","ttl":"3600s","collapse_key":"c","notification":{"sound":"default"}}}}"#)
            let name = try #require(answer.object["name"] as? String)
            let event = try await stream.next()
            #expect(event.id == 1)
            #expect(event["messageId"] as? String == String(name.split(separator: "/")[3]))
            #expect(event.from == "/topics/t")
            #expect(event["ttl"] as? Int == 3_600)
            #expect(event["priority"] as? String == "high")
            #expect(event["collapseKey"] as? String == "c")
            #expect((event["sentTime"] as? Int).map { $0 > 1_700_000_000_000 } == true)
            #expect(event.notification == ["title": "Héllo \"you\"", "body": "مرحبا 🎓", "sound": "default"])
            #expect(event.data == ["msi_key": "k"])

            // Android's own data replaces the common one. Data without a priority is normal.
            _ = try await client.send(
                #"{"message":{"token":"\#(phone)","data":{"a":"common"},"android":{"data":{"a":"android"}}}}"#)
            let direct = try await stream.next()
            #expect(direct.data == ["a": "android"])
            #expect(direct.notification == nil)
            #expect(direct["priority"] as? String == "normal")
            #expect(direct["ttl"] as? Int == 2_419_200)
            #expect(direct["collapseKey"] == nil)
            #expect(direct.from?.hasPrefix("/topics/") == false)
        }
    }

    @Test("A phone gets the messages that are sent while it is subscribed, and no others")
    func aSubscriptionCoversWhatIsSentDuringIt() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            _ = try await client.sendMark("before", to: ("topic", "t"))
            try await client.subscribe([phone], to: "t")
            _ = try await client.sendMark("during", to: ("topic", "t"))
            try await client.unsubscribe([phone], from: "t")
            _ = try await client.sendMark("after", to: ("topic", "t"))
            try await client.subscribe([phone], to: "t")
            _ = try await client.sendMark("again", to: ("topic", "t"))
            try await client.unsubscribe([phone], from: "t")
            #expect(try await client.everything(for: phone) == ["during", "again"])
        }
    }

    @Test("An open stream follows the changes of its phone's subscriptions")
    func anOpenStreamFollowsItsPhonesSubscriptions() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            var stream = try await client.listen(phone)
            try await client.subscribe([phone], to: "late")
            _ = try await client.sendMark("1", to: ("topic", "late"))
            #expect(try await stream.next().mark == "1")
            try await client.unsubscribe([phone], from: "late")
            _ = try await client.sendMark("2", to: ("topic", "late"))
            _ = try await client.sendMark("3", to: ("token", phone))
            #expect(try await stream.next().mark == "3")
        }
    }

    @Test("A stream that is opened with Last-Event-ID continues after that event")
    func aStreamResumesAfterTheLastEvent() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            for mark in ["1", "2", "3"] { _ = try await client.sendMark(mark, to: ("token", phone)) }
            var first = try await client.listen(phone)
            let seen = try await first.next()
            #expect(seen.mark == "1")
            var second = try await client.listen(phone, after: seen.id)
            #expect(try await second.marks(2) == ["2", "3"])
            // An id that was never issued hides no message.
            var third = try await client.listen(phone, after: .max)
            _ = try await client.sendMark("4", to: ("token", phone))
            #expect(try await third.next().mark == "4")
            let query = try await client.call(.GET, "/emulator/devices/\(phone)/events?last_event_id=x", token: nil)
            #expect(query.status == 400)
        }
    }

    @Test("An event that counts as delivered is not sent again")
    func whatHasSettledIsNotDeliveredAgain() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            do {
                var stream = try await client.listen(phone)
                _ = try await client.sendMark("settled", to: ("token", phone))
                #expect(try await stream.next().mark == "settled")
                // The heartbeat comes after five silent seconds. By then the event is settled.
                #expect(try await stream.nextComment() == ": still here")
            }
            _ = try await client.sendMark("new", to: ("token", phone))
            #expect(try await client.everything(for: phone) == ["new"])
        }
    }

    @Test("A condition is evaluated for each phone")
    func aConditionIsEvaluatedForEachPhone() async throws {
        try await withEmulator { client in
            let (both, one, none) = (
                try await client.registerPhone(), try await client.registerPhone(), try await client.registerPhone()
            )
            try await client.subscribe([both, one], to: "a")
            try await client.subscribe([both], to: "b")
            _ = try await client.sendMark("and", to: ("condition", "'a' in topics && 'b' in topics"))
            _ = try await client.sendMark("or", to: ("condition", "'a' in topics || 'b' in topics"))
            _ = try await client.sendMark("not", to: ("condition", "!('b' in topics)"))
            #expect(try await client.everything(for: both) == ["and", "or"])
            #expect(try await client.everything(for: one) == ["or", "not"])
            #expect(try await client.everything(for: none) == ["not"])
        }
    }

    @Test("A message is not delivered after its time to live")
    func timeToLiveEnds() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            // Now or never: no phone is listening.
            _ = try await client.sendMark("never", to: ("token", phone), extra: #","android":{"ttl":"0s"}"#)
            _ = try await client.sendMark("kept", to: ("token", phone))
            var stream = try await client.listen(phone)
            #expect(try await stream.next().mark == "kept")
            _ = try await client.sendMark("now", to: ("token", phone), extra: #","android":{"ttl":"0s"}"#)
            #expect(try await stream.next().mark == "now")
        }
    }

    @Test("Of messages with a collapse key, a phone that is off keeps the newest of each key, for four keys at most")
    func collapsing()
        async throws
    {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            try await client.subscribe([phone], to: "t")
            func send(_ mark: String, key: String?, to target: (String, String), ttl: Int = 60) async throws {
                let android = key.map { #""collapse_key":"\#($0)","# } ?? ""
                _ = try await client.sendMark(mark, to: target, extra: #","android":{\#(android)"ttl":"\#(ttl)s"}"#)
            }
            for (mark, key) in [("a1", "a"), ("b1", "b"), ("plain", nil), ("a2", "a"), ("c1", "c"), ("d1", "d")] {
                try await send(mark, key: key, to: ("topic", "t"))
            }
            // An undelivered message with `ttl` 0 replaces no other.
            try await send("never", key: "d", to: ("topic", "t"), ttl: 0)
            // The keys count for the phone, for all kinds of targets: this is the fifth, and b's is the oldest.
            try await send("e1", key: "e", to: ("token", phone))
            try await send("c2", key: "c", to: ("token", phone))
            var stream = try await client.listen(phone)
            #expect(try await stream.marks(5) == ["plain", "a2", "d1", "e1", "c2"])
            // A listening phone gets all of them.
            for mark in ["a3", "a4"] { try await send(mark, key: "a", to: ("topic", "t")) }
            #expect(try await stream.marks(2) == ["a3", "a4"])
        }
    }

    @Test("The installation ID is the first part of the registration token")
    func anInstallationIsItsTokensFirstPart() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let id = String(phone.split(separator: ":")[0])
            #expect(try await client.sendMark("fid", to: ("fid", id)).status == 200)
            #expect(try await client.sendMark("none", to: ("fid", "nobody")).fcmErrorCode == "UNREGISTERED")
            #expect(try await client.everything(for: phone) == ["fid"])
        }
    }

    @Test("A phone that was unregistered gets nothing, and sends to it are UNREGISTERED")
    func anUnregisteredPhoneIsGone() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            var stream = try await client.listen(phone)
            #expect(try await client.call(.DELETE, "/emulator/devices/\(phone)", token: nil).status == 204)
            #expect(await stream.ends())
            let send = try await client.sendMark("x", to: ("token", phone))
            #expect(send.status == 404)
            #expect(send.fcmErrorCode == "UNREGISTERED")
            #expect(try await client.call(.GET, "/emulator/devices/\(phone)/events", token: nil).status == 404)
            #expect(try await client.call(.DELETE, "/emulator/devices/\(phone)", token: nil).status == 404)
            #expect(try await client.subscribe([phone], to: "t").text == #"{"results":[{"error":"NOT_FOUND"}]}"#)
        }
    }

    @Test("A long backlog is delivered completely and in order")
    func aLongBacklogComesWholeAndInOrder() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            try await client.subscribe([phone], to: "t")
            let count = 350
            try await concurrently(count) { number in try await client.sendMark("\(number)", to: ("topic", "t")) }
            var stream = try await client.listen(phone)
            var events: [PhoneStream.Event] = []
            while events.count < count { events.append(try await stream.next()) }
            #expect(events.map(\.id) == Array(1...Int64(count)))
            #expect(Set(events.map(\.mark)).count == count)
        }
    }
}
