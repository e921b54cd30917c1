import FoundationEssentials
import HTTPTransport
import Schemas
import Testing

@testable import FCMRelay

/// The relay's reading of answers that were recorded from FCM. The number and the order of their details differ.
@Suite("Recorded answers") struct RecordedAnswerTests {
    struct Recording: CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        let statusName: String
        let message: String
        let details: [String]
        let code: String

        init(
            _ name: String, status: Int = 400, _ statusName: String = "INVALID_ARGUMENT", message: String, _ details: [String],
            code: String = "INVALID_ARGUMENT"
        ) {
            testDescription = name
            self.status = status
            self.statusName = statusName
            self.message = message
            self.details = details
            self.code = code
        }

        /// In FCM's form, over several lines.
        func body(_ details: [String]) -> String {
            let list = details.isEmpty ? "" : ",\n    \"details\": [\n      \(details.joined(separator: ",\n      "))\n    ]"
            return """
                {
                  "error": {
                    "code": \(status),
                    "message": "\(message)",
                    "status": "\(statusName)"\(list)
                  }
                }

                """
        }
    }

    private static let own = own("INVALID_ARGUMENT")

    private static func own(_ code: String) -> String {
        #"{ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "\#(code)" }"#
    }

    private static func badRequest(_ field: String, _ text: String) -> String {
        #"{ "@type": "type.googleapis.com/google.rpc.BadRequest", "#
            + #""fieldViolations": [ { "field": "\#(field)", "description": "\#(text)" } ] }"#
    }

    static let recordings = [
        Recording(
            "no target", message: "Recipient of the message is not set.",
            [badRequest("message", "Recipient of the message is not set."), own]),
        Recording(
            "a malformed token", message: "The registration token is not a valid FCM registration token",
            [own, badRequest("message.token", "The registration token is not a valid FCM registration token")],
            code: "UNREGISTERED"),
        Recording(
            "an unregistered token", status: 404, "NOT_FOUND", message: "Requested entity was not found.", [own("UNREGISTERED")],
            code: "UNREGISTERED"),
        Recording(
            "a bad topic name", message: "Topic name contains invalid characters.",
            [badRequest("message", "Topic name contains invalid characters."), own]),
        Recording("a malformed condition", message: "Request contains an invalid argument.", []),
        Recording(
            "a message too large", message: "Message is too large. The maximum is 4K (4096 bytes).",
            [#"{ "@type": "type.googleapis.com/google.rpc.BadRequest" }"#, own]),
        Recording(
            "a TTL of web push that is no number", message: "TTL must be a non-negative integer.",
            [badRequest("message.webpush.headers.TTL", "TTL must be a non-negative integer."), own]),
        Recording(
            "a badge that is a text", message: "Value type for APS key [badge] is a number.",
            [badRequest("message.apns.payload.aps.badge", "Value type for APS key [badge] is a number."), own]),
        Recording(
            "a token of another scope", status: 403, "PERMISSION_DENIED",
            message: "Request had insufficient authentication scopes.",
            [
                #"{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "#
                    + #""domain": "googleapis.com", "metadata": { "service": "fcm.googleapis.com" } }"#
            ], code: "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
    ]

    @Test(
        "Each recorded error is permanent, with FCM's own code unless the token is none, in whatever order its details come",
        arguments: recordings)
    func classification(_ recording: Recording) {
        for details in [recording.details, recording.details.reversed()] {
            let answer = FCMAnswer.classify(
                HTTPTransportResponse(status: recording.status, retryAfter: nil, body: Data(recording.body(details).utf8)),
                now: 0)
            #expect(
                answer
                    == .refused(
                        SendFailure(
                            DeliveryError(class: .permanent, code: recording.code, message: recording.message), scope: .message))
            )
        }
    }

    @Test(
        "A message name is taken unchanged",
        arguments: ["0:1500415314455276%31bd1c9631bd1c96", "6821474567890123456", "fake_message_id"])
    func names(_ id: String) {
        let name = "projects/p/messages/\(id)"
        let answer = FCMAnswer.classify(
            HTTPTransportResponse(status: 200, retryAfter: nil, body: Data("{\n  \"name\": \"\(name)\"\n}\n".utf8)), now: 0)
        #expect(answer == .accepted(name))
    }
}
