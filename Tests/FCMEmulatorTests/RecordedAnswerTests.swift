import NIOHTTP1
import Testing
import TestSupport

/// Answers that were recorded from FCM itself, in July 2026 and before: the emulator gives the same ones, with the same details
/// in the same order.
@Suite("Recorded answers") struct RecordedAnswerTests {
    struct Recording: CustomTestStringConvertible {
        let testDescription: String
        let message: String
        let status: Int
        let body: String

        init(_ name: String, _ message: String, status: Int = 400, _ body: String) {
            testDescription = name
            self.message = message
            self.status = status
            self.body = body
        }
    }

    static let recordings = [
        Recording(
            "no target", #""data":{"a":"b"}"#,
            #"{"error":{"code":400,"message":"Recipient of the message is not set.","status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message","#
                + #""description":"Recipient of the message is not set."}]},"#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#),
        Recording(
            "a malformed token", #""token":"not-a-token""#,
            #"{"error":{"code":400,"message":"The registration token is not a valid FCM registration token","#
                + #""status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},"#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token","#
                + #""description":"The registration token is not a valid FCM registration token"}]}]}}"#),
        Recording(
            "an unregistered token", #""token":"\#(stranger)""#, status: 404,
            #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":["#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#),
        Recording(
            "a bad topic name", #""topic":"bad#topic!name""#,
            #"{"error":{"code":400,"message":"Topic name contains invalid characters.","status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message","#
                + #""description":"Topic name contains invalid characters."}]},"#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#),
        Recording(
            "a malformed condition", #""condition":"'a' in topics &&""#,
            #"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#),
        Recording("a message of 8 KB to a topic", #""topic":"t","data":{"k":"\#(x(8_192))"}"#, tooLarge),
        Recording("a message of 5 KB to a phone", #""token":"\#(stranger)","data":{"k":"\#(x(5_000))"}"#, tooLarge),
        Recording("a message of hundreds of kilobytes", #""topic":"t","data":{"k":"\#(x(500_000))"}"#, tooLarge),
        Recording("a message of megabytes", #""topic":"t","data":{"k":"\#(x(3_000_000))"}"#, tooLarge),
        Recording(
            "a TTL of web push that is no number", #""topic":"t","webpush":{"headers":{"TTL":"not-a-number"}}"#,
            #"{"error":{"code":400,"message":"TTL must be a non-negative integer.","status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#
                + #"{"field":"message.webpush.headers.TTL","description":"TTL must be a non-negative integer."}]},"#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#),
        Recording(
            "a badge that is a text", #""topic":"t","apns":{"payload":{"aps":{"badge":"1"}}}"#,
            #"{"error":{"code":400,"message":"Value type for APS key [badge] is a number.","status":"INVALID_ARGUMENT","#
                + #""details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#
                + #"{"field":"message.apns.payload.aps.badge","description":"Value type for APS key [badge] is a number."}]},"#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#),
        Recording(
            "data that is no text", #""topic":"t","data":{"k":12}"#,
            #"{"error":{"code":400,"message":"Invalid value at 'message.data[0].value' (TYPE_STRING), 12","#
                + #""status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","#
                + #""fieldViolations":[{"field":"message.data[0].value","#
                + #""description":"Invalid value at 'message.data[0].value' (TYPE_STRING), 12"}]}]}}"#),
    ]

    private static let stranger = "abcdefghijklmnopqrstuv:APA91b" + x(134)
    private static let tooLarge =
        #"{"error":{"code":400,"message":"Message is too large. The maximum is 4K (4096 bytes).","status":"INVALID_ARGUMENT","#
        + #""details":[{"@type":"type.googleapis.com/google.rpc.BadRequest"},"#
        + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#

    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("Each recorded answer is reproduced byte for byte, in a dry run as well", arguments: [false, true])
    func refusals(isDryRun: Bool) async throws {
        try await withEmulator { client in
            for recording in Self.recordings {
                let answer = try await client.send("{\"validate_only\":\(isDryRun),\"message\":{\(recording.message)}}")
                #expect(answer.status == recording.status, "\(recording.testDescription)")
                #expect(answer.text == recording.body, "\(recording.testDescription)")
            }
            #expect(try await client.call(.GET, "/emulator/status", token: nil).object["accepted"] as? Int == 0)
        }
    }

    @Test("A message to a topic, a condition or a phone may have 4,096 bytes, and not one more") func limit() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            for target in [#""topic":"t""#, #""condition":"'t' in topics""#, #""token":"\#(phone)""#] {
                let fits = try await client.send("{\"message\":{\(target),\"data\":{\"k\":\"\(Self.x(4_095))\"}}}")
                #expect(fits.status == 200, "\(fits.text)")
                let over = try await client.send("{\"message\":{\(target),\"data\":{\"k\":\"\(Self.x(4_096))\"}}}")
                #expect(over.text == Self.tooLarge)
            }
        }
    }

    @Test("A message to a phone has an id with a percent sign, one to a topic or condition a plain number, dry runs too")
    func names() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let installation = String(phone.split(separator: ":")[0])
            func name(_ target: String, dryRun: Bool = false) async throws -> String {
                let answer = try await client.send("{\"validateOnly\":\(dryRun),\"message\":{\(target)}}")
                return answer.object["name"] as? String ?? answer.text
            }
            for target in [#""topic":"t""#, #""condition":"'t' in topics""#] {
                for isDryRun in [false, true] {
                    let name = try await name(target, dryRun: isDryRun)
                    #expect(name.wholeMatch(of: /projects\/msi-emulator\/messages\/\d{19}/) != nil, "\(name)")
                }
            }
            for target in [#""token":"\#(phone)""#, #""token":"\#(installation)""#, #""fid":"\#(installation)""#] {
                let sent = try await name(target)
                #expect(sent.wholeMatch(of: /projects\/msi-emulator\/messages\/0:\d{16}%[0-9a-f]{16}/) != nil, "\(sent)")
                #expect(try await name(target, dryRun: true) == "projects/msi-emulator/messages/fake_message_id")
            }
            #expect(try await client.call(.GET, "/emulator/status", token: nil).object["accepted"] as? Int == 5)
        }
    }

    @Test("A dry run reports a phone that is gone, but not an iPhone") func deadTokens() async throws {
        try await withEmulator { client in
            for (platform, dryStatus) in [("ANDROID", 404), ("IOS", 200)] {
                let phone = try await client.registerPhone(platform: platform)
                let installation = String(phone.split(separator: ":")[0])
                #expect(try await client.send(#"{"validate_only":true,"message":{"token":"\#(phone)"}}"#).status == 200)
                _ = try await client.call(.DELETE, "/emulator/devices/\(phone)", token: nil)
                let dry = try await client.send(#"{"validate_only":true,"message":{"token":"\#(phone)"}}"#)
                #expect(dry.status == dryStatus, "\(platform): \(dry.text)")
                #expect(dry.fcmErrorCode == (dryStatus == 404 ? "UNREGISTERED" : nil))
                for target in [#""token":"\#(phone)""#, #""fid":"\#(installation)""#] {
                    #expect(try await client.send("{\"message\":{\(target)}}").fcmErrorCode == "UNREGISTERED")
                }
            }
        }
    }

    @Test("An installation ID is accepted in place of a token, and the project number in the path") func otherNames()
        async throws
    {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let installation = String(phone.split(separator: ":")[0])
            var stream = try await client.listen(phone)
            let sent = try await client.send(
                #"{"message":{"token":"\#(installation)","data":{"mark":"here"}}}"#, project: "103953800507")
            #expect(sent.status == 200)
            let path = "/v1/projects/103953800507/registrations/\(installation)/topicSubscriptions"
            #expect(try await client.call(.POST, "\(path)?topicName=t", token: "owner", "{}").status == 200)
            _ = try await client.sendMark("topic", to: ("topic", "t"))
            #expect(try await stream.marks(2) == ["here", "topic"])
            for project in ["103953800508", "other"] {
                let forbidden = try await client.send(#"{"message":{"topic":"t"}}"#, project: project)
                #expect(forbidden.status == 403 && forbidden.errorStatus == "PERMISSION_DENIED")
            }
        }
    }

    @Test("The last of several equal keys or parameters counts") func repeats() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            var stream = try await client.listen(phone)
            let sent = try await client.send(
                #"{"message":{"topic":"t"},"message":{"token":"nonsense","token":"\#(phone)","#
                    + #""data":{"mark":"first","a":"1","mark":"last"},"android":{"collapse_key":"a","collapseKey":"b"}}}"#)
            #expect(sent.status == 200, "\(sent.text)")
            let event = try await stream.next()
            #expect(event.data == ["mark": "last", "a": "1"])
            #expect(event["collapseKey"] as? String == "b")
            let path = "/v1/projects/msi-emulator/registrations/\(phone)/topicSubscriptions"
            let made = try await client.call(.POST, "\(path)?topicName=a%20b&topic_name=t", token: "owner", "{}")
            #expect(made.object["topicName"] as? String == "t")
            // FCM accepts this. In the emulator's own documents it is an error.
            let faults = try await client.call(.PUT, "/emulator/faults", token: nil, #"{"seed":1,"seed":2}"#)
            #expect(faults.status == 400 && faults.violatedFields == ["seed"])
        }
    }
}
