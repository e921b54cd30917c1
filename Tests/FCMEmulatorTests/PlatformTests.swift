import Base
import NIOHTTP1
import Schemas
import Testing
import TestSupport

@testable import FCMEmulator

/// The emulator's rules for Android's and iOS's treatment of an app's messages.
@Suite("Platforms") struct PlatformTests {
    private static func rules(_ client: EmulatorClient, _ document: String) async throws {
        let answer = try await client.call(.PUT, "/emulator/platforms", token: nil, document)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func counts(_ client: EmulatorClient) async throws -> [Int?] {
        let counts = try await client.call(.GET, "/emulator/counts", token: nil).object
        return [counts["demoted"] as? Int, counts["throttled"] as? Int]
    }

    @Test("By default nothing is demoted or throttled") func off() async throws {
        try await withEmulator { client in
            #expect(
                try await client.call(.GET, "/emulator/platforms", token: nil).text
                    == #"{"android":{"most":0,"window_s":604800},"ios":{"most":0,"window_s":3600}}"#)
            for platform in ["ANDROID", "IOS"] {
                let phone = try await client.registerPhone(platform: platform)
                var stream = try await client.listen(phone)
                for number in 0..<10 {
                    _ = try await client.sendMark("\(number)", to: ("token", phone), extra: #","android":{"priority":"HIGH"}"#)
                    let event = try await stream.next()
                    #expect(event.mark == "\(number)")
                    #expect(event["priority"] as? String == (platform == "ANDROID" ? "high" : "normal"))
                    #expect(event["originalPriority"] == nil)
                }
            }
            #expect(try await Self.counts(client) == [0, 0])
        }
    }

    @Test("Android demotes an app whose high-priority messages show nothing, until it shows something for most of them")
    func demotion() async throws {
        try await withEmulator { client in
            try await Self.rules(client, #"{"android":{"most":3}}"#)
            let (quiet, lively) = (try await client.registerPhone(), try await client.registerPhone())
            try await client.subscribe([quiet, lively], to: "both")
            try await client.subscribe([lively], to: "shown")
            var (quietly, livelily) = (try await client.listen(quiet), try await client.listen(lively))
            let silent = #","android":{"priority":"HIGH"}"#
            let shown = #","notification":{"title":"t"},"android":{"priority":"HIGH"}"#
            var priorities: [String?] = []
            for number in 0..<5 {
                _ = try await client.sendMark("s\(number)", to: ("topic", "shown"), extra: shown)
                #expect(try await livelily.next()["priority"] as? String == "high")
                _ = try await client.sendMark("\(number)", to: ("topic", "both"), extra: silent)
                #expect(try await livelily.next()["priority"] as? String == "high", "it shows as much as it hides")
                let event = try await quietly.next()
                priorities.append(event["priority"] as? String)
                #expect(event["originalPriority"] as? String == (number < 3 ? nil : "high"))
            }
            #expect(priorities == ["high", "high", "high", "normal", "normal"])
            #expect(try await Self.counts(client) == [2, 0])

            // Messages of normal priority are neither demoted nor counted.
            _ = try await client.sendMark("normal", to: ("token", quiet))
            let normal = try await quietly.next()
            #expect(normal["priority"] as? String == "normal" && normal["originalPriority"] == nil)
            // A repeated message is treated as before, and not counted twice.
            var again = try await client.listen(quiet, after: 0)
            var seen: [String?] = []
            for _ in 0..<5 { seen.append(try await again.next()["priority"] as? String) }
            #expect(seen == priorities)
            #expect(try await Self.counts(client) == [2, 0])
            // Five messages that show nothing. Once as many show something, messages are no longer demoted.
            for number in 0..<6 {
                _ = try await client.sendMark("v\(number)", to: ("token", quiet), extra: shown)
                let event = try await quietly.next()
                #expect(event["priority"] as? String == (number < 5 ? "normal" : "high"), "\(number)")
            }
            #expect(try await client.call(.DELETE, "/emulator/counts", token: nil).status == 204)
            #expect(try await Self.counts(client) == [0, 0])
        }
    }

    @Test("A rule looks back over its configured window") func window() throws {
        var rules = try PlatformRules(ControlFields(["android": ["most": .integer(1), "window_s": .integer(60)]]))
        let message = try PhoneContent(
            body: Array(#"{"message":{"topic":"t","android":{"priority":"HIGH"}}}"#.utf8), on: .android)
        var treatments: [PlatformRules.Treatment] = []
        for (index, second) in [0, 59, 118, 178].enumerated() {
            treatments.append(
                rules.treatment(of: message, at: Int64(index), for: 1, on: .android, now: 0 + .seconds(Int64(second))))
        }
        #expect(treatments == [.asSent, .demoted, .demoted, .asSent])
    }

    @Test("iOS drops background pushes beyond a few an hour, and always shows visible ones") func throttling()
        async throws
    {
        try await withEmulator { client in
            try await Self.rules(client, #"{"ios":{"most":2}}"#)
            let (phone, android) = (try await client.registerPhone(platform: "IOS"), try await client.registerPhone())
            try await client.subscribe([phone, android], to: "t")
            var (stream, other) = (try await client.listen(phone), try await client.listen(android))
            let background = #","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#
            let alert = #","apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"alert":{"title":"A"}},"k":7}}"#
            for number in 0..<4 { _ = try await client.sendMark("b\(number)", to: ("topic", "t"), extra: background) }
            _ = try await client.sendMark("alert", to: ("topic", "t"), extra: alert)
            _ = try await client.sendMark("b4", to: ("topic", "t"), extra: background)
            _ = try await client.sendMark("note", to: ("topic", "t"), extra: #","notification":{"title":"N"}"#)
            let events = [try await stream.next(), try await stream.next(), try await stream.next(), try await stream.next()]
            #expect(events.map(\.mark) == ["b0", "b1", "alert", "note"])
            #expect(events[0]["priority"] as? String == "normal" && events[0].notification == nil)
            #expect(events[2].notification == ["title": "A"] && events[2]["priority"] as? String == "high")
            #expect(events[2].data == ["mark": "alert", "k": "7"])
            #expect(events[3].notification == ["title": "N"])
            #expect(try await other.marks(7) == ["b0", "b1", "b2", "b3", "alert", "b4", "note"])
            #expect(try await Self.counts(client) == [0, 3])
            // Dropped for good, as by APNs.
            var again = try await client.listen(phone, after: 0)
            #expect(try await again.marks(4) == ["b0", "b1", "alert", "note"])
            #expect(try await Self.counts(client) == [0, 3])
        }
    }

    @Test("The platform of a phone is chosen at its registration, and shown in its information") func registration() async throws
    {
        try await withEmulator { client in
            for platform in ["ANDROID", "IOS"] {
                let phone = try await client.registerPhone(platform: platform)
                let info = try await client.call(.GET, "/iid/info/\(phone)", token: "owner")
                #expect(info.object["platform"] as? String == platform)
            }
            for body in [#"{"platform":"PALM"}"#, #"{"x":1}"#, "[]", #"{"platform":"IOS","platform":"IOS"}"#] {
                #expect(try await client.call(.POST, "/emulator/devices", token: nil, body).status == 400, "\(body)")
            }
        }
    }

    @Test("The fields of android_v2 reach an Android phone") func secondVersion() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            var stream = try await client.listen(phone)
            _ = try await client.sendMark(
                "shown", to: ("token", phone),
                extra: #","notification":{"title":"common","body":"b"},"android_v2":{"ttl":"60s","collapse_key":"c","#
                    + #""remote_notification":{"notification":{"title":"own"}}}"#)
            let shown = try await stream.next()
            #expect(shown.notification == ["title": "own", "body": "b"])
            #expect(shown["priority"] as? String == "high" && shown["ttl"] as? Int == 60)
            #expect(shown["collapseKey"] as? String == "c")
            _ = try await client.send(
                #"{"message":{"token":"\#(phone)","data":{"mark":"x"},"androidV2":{"data":{"mark":"own"},"backgroundSync":{}}}}"#)
            let sync = try await stream.next()
            #expect(sync.mark == "own" && sync["priority"] as? String == "normal")
        }
    }
}
