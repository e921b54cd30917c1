import FCM
import FoundationEssentials
import Base
import Schemas
import Testing

/// Messages that FCM accepts, and messages that are refused before FCM is asked.
@Suite("FCM's rules for messages")
struct FCMRulesTests {
    private static func checked(_ json: String, _ recipients: [PushRecipient] = [.topic("news")]) throws -> JSONValue {
        try FCMRules.checked(JSONCoder.decode(JSONValue.self, from: Data(json.utf8)), for: recipients)
    }

    @Test("A message with every kind of field is accepted in either spelling, and gets snake_case names")
    func everything() throws {
        let message = try Self.checked(
            """
            {"data":{"a":"1"},"notification":{"title":"T","body":"B","image":"https://a.test/i.png"},
             "android":{"collapseKey":"k","priority":"high","ttl":"3600.5s","directBootOk":true,"data":{"b":"2"},
              "notification":{"color":"#20a0FF","body_loc_args":["x"],"event_time":"2026-11-22T16:20:00.5Z","notification_count":3,
               "vibrate_timings":["1s","0.25s"],"light_settings":{"color":{"red":0.5},"light_on_duration":"1s"},
               "visibility":"secret"}},
             "apns":{"headers":{"apns-priority":"10","apns-expiration":"0"},"payload":{"aps":{"alert":{"title":"T"},"badge":1},"x":[1,null]}},
             "webpush":{"headers":{"TTL":"60","Urgency":"high"},"notification":{"anything":{"at":["all"]}},"fcm_options":{"link":"https://a.test"}},
             "fcmOptions":{"analyticsLabel":"storm-2026"}}
            """)
        #expect(message["android"]?["collapse_key"] == "k" && message["android"]?["priority"] == "HIGH")
        #expect(message["android"]?["direct_boot_ok"] == true && message["android"]?["collapseKey"] == nil)
        #expect(message["fcm_options"]?["analytics_label"] == "storm-2026")
        #expect(message["android"]?["notification"]?["visibility"] == "SECRET")
        #expect(try Self.checked("{}") == [:])
    }

    @Test(
        "What FCM would refuse is refused by the field's name",
        arguments: [
            (#"{"dat":{}}"#, "message.dat"), (#"{"topic":"a"}"#, "message.topic"), (#"{"token":"a"}"#, "message.token"),
            (#"{"name":"a"}"#, "message.name"), (#"[]"#, "message"), (#"{"data":{"a":1}}"#, "message.data.a"),
            (#"{"data":{"from":"x"}}"#, "message.data.from"), (#"{"data":{"google.x":"x"}}"#, "message.data.google.x"),
            (#"{"data":{"gcm.notification.x":"x"}}"#, "message.data.gcm.notification.x"),
            (#"{"android":{"priority":"HIGHEST"}}"#, "message.android.priority"),
            (#"{"android":{"ttl":"3600"}}"#, "message.android.ttl"), (#"{"android":{"ttl":"-1s"}}"#, "message.android.ttl"),
            (#"{"android":{"ttl":"2419201s"}}"#, "message.android.ttl"),
            (#"{"android":{"ttl":"2419200.5s"}}"#, "message.android.ttl"), (#"{"android":{"ttl":60}}"#, "message.android.ttl"),
            (#"{"android":{"notification":{"color":"red"}}}"#, "message.android.notification.color"),
            (#"{"android":{"notification":{"sticky":"yes"}}}"#, "message.android.notification.sticky"),
            (#"{"android":{"notification":{"vibrate_timings":["1s",2]}}}"#, "message.android.notification.vibrate_timings[1]"),
            (
                #"{"android":{"notification":{"notification_count":3000000000}}}"#,
                "message.android.notification.notification_count"
            ),
            (#"{"android":{"collapse_key":"a","collapseKey":"b"}}"#, "message.android.collapse_key"),
            (#"{"android":{},"android_v2":{}}"#, "message.android_v2"),
            (#"{"apns":{"headers":{"apns-priority":"7"}}}"#, "message.apns.headers.apns-priority"),
            (#"{"apns":{"headers":{"apns-expiration":"soon"}}}"#, "message.apns.headers.apns-expiration"),
            (#"{"apns":{"payload":{"x":1}}}"#, "message.apns.payload.aps"),
            (#"{"apns":{"payload":{"aps":{"badge":"1"}}}}"#, "message.apns.payload.aps.badge"),
            (#"{"apns":{"payload":{"aps":{"sound":1}}}}"#, "message.apns.payload.aps.sound"),
            (#"{"apns":{"payload":{"aps":{"thread-id":1}}}}"#, "message.apns.payload.aps.thread-id"),
            (#"{"apns":{"payload":{"aps":{"mutable-content":true}}}}"#, "message.apns.payload.aps.mutable-content"),
            (#"{"apns":{"payload":{"aps":{"alert":{"title":1}}}}}"#, "message.apns.payload.aps.alert.title"),
            (#"{"apns":{"payload":{"aps":{"content-available":1}}}}"#, "message.apns.headers.apns-priority"),
            (
                #"{"apns":{"headers":{"Apns-Priority":"10"},"payload":{"aps":{"content-available":1}}}}"#,
                "message.apns.headers.Apns-Priority"
            ),
            (#"{"webpush":{"headers":{"ttl":"x"}}}"#, "message.webpush.headers.ttl"),
            (#"{"webpush":{"fcm_options":{"link":"http://a.test"}}}"#, "message.webpush.fcm_options.link"),
            (#"{"fcm_options":{"analytics_label":"two words"}}"#, "message.fcm_options.analytics_label"),
        ])
    func refused(json: String, field: String) throws {
        #expect(violation { try Self.checked(json) }?.field == field)
    }

    @Test("A number that does not fit 64-bit floating point is refused, however it is written")
    func largeNumbers() throws {
        func field(_ json: String) -> String? { violation { try Self.checked(json) }?.field }
        let digits = String(repeating: "9", count: 400)
        #expect(field(#"{"apns":{"payload":{"aps":{},"x":[1,{"y":\#(digits)}]}}}"#) == "message.apns.payload.x[1].y")
        #expect(field(#"{"webpush":{"notification":{"x":-\#(digits).5}}}"#) == "message.webpush.notification.x")
        let red = "message.android.notification.light_settings.color.red"
        #expect(field(#"{"android":{"notification":{"light_settings":{"color":{"red":\#(digits)}}}}}"#) == red)
        _ = try Self.checked(#"{"apns":{"payload":{"aps":{},"x":\#(digits.prefix(308))}}}"#)
    }

    @Test("4,096 bytes of data and notification are accepted, and not one more; a platform's own data is measured separately")
    func size() throws {
        func message(_ count: Int, _ more: String = "") -> String {
            #"{"data":{"a":"\#(String(repeating: "x", count: count - 1))"}\#(more)}"#
        }
        _ = try Self.checked(message(4_096))
        _ = try Self.checked(message(4_096, #","android":{"data":{"b":"1"}}"#), [.token("t")])
        for (json, recipient) in [(message(4_097), PushRecipient.topic("a")), (message(4_097), .token("t"))] {
            let violation = violation { try Self.checked(json, [recipient]) }
            #expect(violation?.field == "message" && violation?.problem.contains("1 more than the 4096") == true)
        }
        let apns = #"{"apns":{"payload":{"aps":{"alert":"\#(String(repeating: "x", count: 5_000))"}}}}"#
        #expect(violation { try Self.checked(apns) }?.field == "message.apns")
    }

    @Test(
        "Recipients are checked: topics' names, conditions and tokens",
        arguments: [
            (PushRecipient.topic("/topics/a"), "topic"), (.topic("a b"), "topic"), (.condition("'a' in topics &&"), "condition"),
            (.condition("a in topics"), "condition"), (.condition("'a' in topics) "), "condition"),
            (.condition((0..<6).map { "'\($0)' in topics" }.joined(separator: " || ")), "condition"), (.token("a b"), "tokens"),
        ])
    func recipients(recipient: PushRecipient, field: String) {
        #expect(violation { try Self.checked("{}", [recipient]) }?.field == field)
    }

    @Test("Conditions with operators, negation and parentheses are accepted")
    func conditions() throws {
        for condition in ["'a' in topics", "'a' in topics && !('b' in topics || 'c.d~%' in topics)", "!'a' in topics"] {
            _ = try Self.checked("{}", [.condition(condition)])
        }
    }

    @Test("A message with high priority, or with a notification and no priority, is urgent")
    func urgency() throws {
        #expect(FCMRules.urgency(of: try Self.checked(#"{"data":{}}"#)) == .normal)
        #expect(FCMRules.urgency(of: try Self.checked(#"{"notification":{"title":"T"}}"#)) == .high)
        #expect(FCMRules.urgency(of: try Self.checked(#"{"notification":{},"android":{"priority":"normal"}}"#)) == .normal)
        #expect(FCMRules.urgency(of: try Self.checked(#"{"android":{"priority":"HIGH"}}"#)) == .high)
    }

    @Test("FCM keeps a push until it expires, or until its own times to live end")
    func expiry() throws {
        let now: UnixMilliseconds = 1_000_000_000
        func sent(_ json: String, expires: UnixMilliseconds?) throws -> JSONValue {
            let push = RelayPush(
                pushID: ObjectID(), recipients: [.token("t")], message: try Self.checked(json, [.token("t")]), expires: expires)
            let body = try JSONCoder.decode(JSONValue.self, from: FCMPush(push, now: now).body(for: .token("t")))
            return try #require(body["message"])
        }
        #expect(try sent(#"{"data":{"a":"b"}}"#, expires: nil) == ["data": ["a": "b"], "token": "t"])
        let plain = try sent("{}", expires: now + 60_500)
        #expect(plain["android"] == ["ttl": "60s"])
        #expect(plain["apns"] == ["headers": ["apns-expiration": "1000060"]])
        #expect(plain["webpush"] == ["headers": ["TTL": "60"]])
        let own = #"{"android":{"ttl":"7s"},"apns":{"headers":{"apns-expiration":"5"}},"webpush":{"headers":{"ttl":"8"}}}"#
        let shorter = try sent(own, expires: now + 60_000)
        #expect(shorter["android"]?["ttl"] == "7s" && shorter["webpush"]?["headers"] == ["ttl": "8"])
        #expect(shorter["apns"]?["headers"] == ["apns-expiration": "5"])
        let longer = try sent(#"{"android_v2":{"ttl":"900s"},"webpush":{"headers":{"ttl":"900"}}}"#, expires: now + 60_000)
        #expect(
            longer["android_v2"]?["ttl"] == "60s" && longer["android"] == nil && longer["webpush"]?["headers"] == ["ttl": "60"])
    }

    @Test("The body for a recipient has the message, the recipient, and whether it is a dry run")
    func body() throws {
        func body(_ message: JSONValue, _ recipient: PushRecipient, validateOnly: Bool?) throws -> JSONValue {
            let push = RelayPush(pushID: ObjectID(), recipients: [recipient], message: message, validateOnly: validateOnly)
            return try JSONCoder.decode(JSONValue.self, from: FCMPush(push, now: 0).body(for: recipient))
        }
        #expect(
            try body(["data": ["a": "b"], "android": [:]], .condition("'\"a\"' in topics"), validateOnly: true)
                == [
                    "message": ["data": ["a": "b"], "android": [:], "condition": "'\"a\"' in topics"], "validate_only": true,
                ])
        #expect(try body([:], .topic("news"), validateOnly: false) == ["message": ["topic": "news"]])
    }
}
