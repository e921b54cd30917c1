import NIOHTTP1
import Testing
import TestSupport

/// FCM's validation of sends, compared with the exact words of its answers. ``RecordedAnswerTests`` has further ones.
@Suite("The emulator's checks of a message")
struct SendValidationTests {
    struct Refusal: CustomTestStringConvertible {
        let message: String
        let text: String
        let fields: [String]
        let fcmCode: String?

        init(_ message: String, _ text: String, _ fields: [String], fcm: Bool = true) {
            self.message = message
            self.text = text
            self.fields = fields
            fcmCode = fcm ? "INVALID_ARGUMENT" : nil
        }

        var testDescription: String { String(message.prefix(80)) }
    }

    static let refusals = [
        // The form: Google's front end, before FCM sees it.
        Refusal(
            #""topic":"t","data":{"a":"1","b":true}"#, "Invalid value at 'message.data[1].value' (TYPE_STRING), true",
            ["message.data[1].value"], fcm: false),
        Refusal(
            #""topic":"t","data":{"a":{"b":"c"}}"#,
            "Invalid JSON payload received. Unknown name \"value\" at 'message.data[0]': Starting an object on a scalar field",
            ["message.data[0]"], fcm: false),
        Refusal(
            #""topic":"t","colour":"red""#,
            "Invalid JSON payload received. Unknown name \"colour\" at 'message': Cannot find field.", ["message"], fcm: false),
        Refusal(
            #""topic":["t"]"#,
            "Invalid JSON payload received. Unknown name \"topic\" at 'message': Proto field is not repeating, cannot start list.",
            ["message"], fcm: false),
        Refusal(
            #""topic":"t","android":{"priority":"urgent"}"#,
            "Invalid value at 'message.android.priority' "
                + "(type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority), \"urgent\"",
            ["message.android.priority"], fcm: false),
        Refusal(
            #""topic":"t","android":{"ttl":"3600"}"#,
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "
                + "Field 'ttl', Illegal duration format; duration must end with 's'",
            ["message.android.ttl"], fcm: false),
        Refusal(
            #""topic":"t","apns":{"headers":{"apns-priority":5}}"#,
            "Invalid value at 'message.apns.headers[0].value' (TYPE_STRING), 5", ["message.apns.headers[0].value"], fcm: false),
        Refusal(
            #""topic":"t","token":"x""#,
            "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'token'", ["message"],
            fcm: false),
        Refusal(
            #""topic":"t","android":{"notification":{"visibility":7}}"#,
            "Invalid value at 'message.android.notification.visibility' "
                + "(type.googleapis.com/google.firebase.fcm.v1.AndroidNotification.Visibility), 7",
            ["message.android.notification.visibility"], fcm: false),
        Refusal(
            #""topic":5,"wrong":1"#,
            "Invalid value at 'message.topic' (TYPE_STRING), 5\n"
                + "Invalid JSON payload received. Unknown name \"wrong\" at 'message': Cannot find field.",
            ["message.topic", "message"], fcm: false),
        // The rules of FCM itself.
        Refusal(#""topic":"/topics/t""#, "Topic name contains invalid characters.", ["message"]),
        Refusal(#""topic":"t","data":{"from":"x"}"#, "Invalid data payload key: from", ["message.data"]),
        Refusal(#""topic":"t","data":{"message_type":"x"}"#, "Invalid data payload key: message_type", ["message.data"]),
        Refusal(#""topic":"t","data":{"google.x":"x"}"#, "Invalid data payload key: google.x", ["message.data"]),
        Refusal(
            #""topic":"t","android":{"data":{"gcm.notification.x":"x"}}"#, "Invalid data payload key: gcm.notification.x",
            ["message.android.data"]),
        Refusal(
            #""topic":"t","android":{"ttl":"2419201s"}"#, "Invalid ttl: it must be from 0 to 2419200 seconds",
            ["message.android.ttl"]),
        Refusal(
            #""topic":"t","android":{"ttl":"-1s"}"#, "Invalid ttl: it must be from 0 to 2419200 seconds",
            ["message.android.ttl"]),
        Refusal(
            #""topic":"t","android":{"notification":{"color":"red"}}"#, "Invalid color format: must be #RRGGBB",
            ["message.android.notification.color"]),
        Refusal(
            #""topic":"t","apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1}}}"#,
            "A message with content-available and nothing to show must have apns-priority 5", ["message.apns.headers"]),
        Refusal(
            #""topic":"t","apns":{"payload":{"aps":{"content-available":1}}}"#,
            "A message with content-available and nothing to show must have apns-priority 5", ["message.apns.headers"]),
        Refusal(
            #""topic":"t","fcm_options":{"analytics_label":"a b"}"#, "Invalid analytics label",
            ["message.fcm_options.analytics_label"]),
        Refusal(
            #""topic":"t","webpush":{"headers":{"ttl":"-1"}}"#, "TTL must be a non-negative integer.",
            ["message.webpush.headers.TTL"]),
        Refusal(
            #""topic":"t","apns":{"payload":{"custom":"x"}}"#,
            "Payload of Apple Push Notification Service must contain an [aps] key.", ["message.apns.payload"]),
        Refusal(
            #""topic":"t","apns":{"payload":{}}"#,
            "Payload of Apple Push Notification Service must contain an [aps] key.", ["message.apns.payload"]),
        Refusal(
            #""topic":"t","apns":{"payload":{"aps":{"alert":{"title":7}}}}"#,
            "Value type for APS key [title] is a string.", ["message.apns.payload.aps.alert.title"]),
        Refusal(
            #""topic":"t","apns":{"payload":{"aps":{"mutable-content":true}}}"#,
            "Value type for APS key [mutable-content] is a number.", ["message.apns.payload.aps.mutable-content"]),
        Refusal(
            #""topic":"t","apns":{"payload":{"aps":{"sound":1}}}"#, "Value type for APS key [sound] is a string.",
            ["message.apns.payload.aps.sound"]),
        Refusal(
            #""topic":"t","android":{},"androidV2":{}"#, "Only one of android and android_v2 can be set.", ["message"]),
        Refusal(
            #""topic":"t","android_v2":{"priority":"HIGH"}"#,
            "Invalid JSON payload received. Unknown name \"priority\" at 'message.android_v2': Cannot find field.",
            ["message.android_v2"], fcm: false),
        Refusal(
            #""topic":"t","android_v2":{"remote_notification":{"notification":{"color":"red"}}}"#,
            "Invalid color format: must be #RRGGBB", ["message.android_v2.remote_notification.notification.color"]),
        Refusal(
            #""topic":"t","android_v2":{"ttl":"-1s"}"#, "Invalid ttl: it must be from 0 to 2419200 seconds",
            ["message.android_v2.ttl"]),
    ]

    @Test("A message that FCM would refuse is refused, and the error names the field")
    func refusalsNameWhatIsWrong() async throws {
        try await withEmulator { client in
            for refusal in Self.refusals {
                let answer = try await client.send("{\"message\":{\(refusal.message)}}")
                #expect(answer.status == 400, "\(refusal.message)")
                #expect(answer.error["code"] as? Int == 400)
                #expect(answer.errorStatus == "INVALID_ARGUMENT")
                #expect(answer.errorMessage == refusal.text)
                #expect(answer.violatedFields == refusal.fields, "\(refusal.message)")
                #expect(answer.fcmErrorCode == refusal.fcmCode, "\(refusal.message)")
            }
            let status = try await client.call(.GET, "/emulator/status", token: nil)
            #expect(status.object["accepted"] as? Int == 0)
        }
    }

    @Test(
        "A valid message is accepted",
        arguments: [
            #""topic":"t""#,
            #""topic":"a-Z_0.9~%","data":{"collapse_key":"c"}"#,
            #""topic":"t","android":{"priority":"high","ttl":"2419200s","collapseKey":"k"}"#,
            #""topic":"t","android":{"priority":"NORMAL","ttl":"0s","collapse_key":"k","directBootOk":true}"#,
            #""topic":"t","android":{"ttl":"3.5s","notification":{"channelId":"c","notificationCount":"3"}}"#,
            #""topic":"t","android":{"notification":{"event_time":"2026-11-21T10:00:00.5Z","vibrate_timings":["0.2s"]}}"#,
            #""topic":"t","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#,
            #""topic":"t","notification":{"title":"x"},"apns":{"payload":{"aps":{"content-available":1,"sound":"default"}}}"#,
            #""topic":"t","webpush":{"headers":{"TTL":"15"},"notification":{"renotify":true},"fcm_options":{"link":"https://e.org"}}"#,
            #""topic":"t","token":null,"fcmOptions":{"analyticsLabel":"l"}"#,
            #""condition":"'a' in topics && !('b' in topics || 'c' in topics)""#,
            #""topic":"t","apns":{"payload":{"aps":{"alert":"text","badge":0}}}"#,
            #""topic":"t","apns":{"payload":{"aps":{"alert":{"title":"t","body":"b"}},"custom":"x"}}"#,
            #""topic":"t","android_v2":{"collapseKey":"k","backgroundSync":{}}"#,
            #""topic":"t","androidV2":{"ttl":"5s","remoteNotification":{"mutableContent":true,"notification":{"id":3,"title":"t"}}}"#,
        ])
    func goodMessagesAreAccepted(_ message: String) async throws {
        try await withEmulator { client in
            let answer = try await client.send("{\"message\":{\(message)}}")
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("The payload limit for topics can be set")
    func theTopicsPayloadLimitIsASetting() async throws {
        try await withEmulator(topicPayloadLimit: 100) { client in
            let phone = try await client.registerPhone()
            let fits = String(repeating: "é", count: 49) + "e"
            #expect(try await client.send(#"{"message":{"topic":"t","data":{"a":"\#(fits)"}}}"#).status == 200)
            let over = try await client.send(#"{"message":{"topic":"t","data":{"ab":"\#(fits)"}}}"#)
            #expect(over.errorMessage == "Message is too large. The maximum is 100 bytes.")
            let most = String(repeating: "x", count: 4_095)
            #expect(try await client.send(#"{"message":{"token":"\#(phone)","data":{"a":"\#(most)"}}}"#).status == 200)
            let tooMuch = try await client.send(#"{"message":{"token":"\#(phone)","data":{"ab":"\#(most)"}}}"#)
            #expect(tooMuch.errorMessage == "Message is too large. The maximum is 4K (4096 bytes).")
        }
    }

    @Test("A send with validate_only delivers nothing")
    func validateOnlyDeliversNothing() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let dry = try await client.send(#"{"validate_only":true,"message":{"token":"\#(phone)","data":{"mark":"dry"}}}"#)
            #expect(dry.status == 200)
            #expect(try await client.everything(for: phone) == [])
        }
    }
}
