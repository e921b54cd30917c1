import Foundation
import NIOHTTP1
import Testing
import TestSupport

/// The injected errors, compared with Google's exact forms.
@Suite("Errors on demand") struct FaultAnswerTests {
    struct Expected: CustomTestStringConvertible {
        let rule: String
        let status: Int
        let name: String
        let fcmCode: String?
        let message: String
        let details: [String]

        var testDescription: String { rule }
    }

    private static let fcmError = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
    private static let errorInfo = "type.googleapis.com/google.rpc.ErrorInfo"

    static let errors = [
        Expected(
            rule: "INVALID_ARGUMENT", status: 400, name: "INVALID_ARGUMENT", fcmCode: "INVALID_ARGUMENT",
            message: "Request contains an invalid argument.", details: [fcmError]),
        Expected(
            rule: "UNAUTHENTICATED", status: 401, name: "UNAUTHENTICATED", fcmCode: nil,
            message: "Request had invalid authentication credentials.", details: [errorInfo]),
        Expected(
            rule: "THIRD_PARTY_AUTH_ERROR", status: 401, name: "UNAUTHENTICATED", fcmCode: "THIRD_PARTY_AUTH_ERROR",
            message: "Request is missing required authentication credential.", details: [fcmError]),
        Expected(
            rule: "SENDER_ID_MISMATCH", status: 403, name: "PERMISSION_DENIED", fcmCode: "SENDER_ID_MISMATCH",
            message: "SenderId mismatch", details: [fcmError]),
        Expected(
            rule: "UNREGISTERED", status: 404, name: "NOT_FOUND", fcmCode: "UNREGISTERED",
            message: "Requested entity was not found.", details: [fcmError]),
        Expected(
            rule: "QUOTA_EXCEEDED", status: 429, name: "RESOURCE_EXHAUSTED", fcmCode: "QUOTA_EXCEEDED",
            message: "Topic quota exceeded.", details: [fcmError, "type.googleapis.com/google.rpc.QuotaFailure"]),
        Expected(
            rule: "PROJECT_QUOTA", status: 429, name: "RESOURCE_EXHAUSTED", fcmCode: nil,
            message: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'",
            details: [errorInfo, "type.googleapis.com/google.rpc.Help"]),
        Expected(
            rule: "INTERNAL", status: 500, name: "INTERNAL", fcmCode: "INTERNAL", message: "Internal error encountered.",
            details: [fcmError]),
        Expected(
            rule: "UNAVAILABLE", status: 503, name: "UNAVAILABLE", fcmCode: "UNAVAILABLE",
            message: "The service is currently unavailable.", details: [fcmError]),
    ]

    @Test("Each injected error is answered as by FCM, and nothing is accepted") func classes() async throws {
        try await withEmulator { client in
            for expected in Self.errors {
                try await client.fault(#"{"fault":"\#(expected.rule)"}"#)
                let answer = try await client.sendMark("x", to: ("topic", "t"))
                #expect(answer.status == expected.status, "\(expected.rule)")
                #expect(answer.error["code"] as? Int == expected.status)
                #expect(answer.errorStatus == expected.name, "\(expected.rule)")
                #expect(answer.fcmErrorCode == expected.fcmCode, "\(expected.rule)")
                #expect(answer.errorMessage?.hasPrefix(expected.message) == true, "\(answer.text)")
                #expect(answer.details.compactMap { $0["@type"] as? String } == expected.details, "\(answer.text)")
                #expect(answer.headers["Retry-After"].isEmpty)
            }
            #expect(try await client.acceptedTopics() == [])
            try await client.fault(#"{"fault":"PROJECT_QUOTA"}"#)
            let quota = try await client.sendMark("x", to: ("topic", "t")).details.first?["metadata"] as? [String: String]
            #expect(quota?["quota_limit"] == "SendsPerMinutePerProject")
            #expect(quota?["quota_metric"] == "fcm.googleapis.com/send_requests")
        }
    }

    @Test("An error comes with Retry-After in either form, without a body, or as a page of HTML") func forms() async throws {
        try await withEmulator { client in
            try await client.fault(#"{"fault":"UNAVAILABLE","retry_after_s":7,"count":1}"#, #"{"fault":"BAD_GATEWAY"}"#)
            let seconds = try await client.sendMark("x", to: ("topic", "t"))
            #expect(seconds.headers["Retry-After"] == ["7"])
            let page = try await client.sendMark("x", to: ("topic", "t"))
            #expect(page.status == 502)
            #expect(page.headers["Content-Type"] == ["text/html; charset=UTF-8"])
            #expect(page.text.hasPrefix("<!DOCTYPE html>") && page.text.contains("Error 502 (Server Error)!!1"))

            try await client.fault(
                #"{"fault":"UNAVAILABLE","retryAfterS":120,"retryAfterForm":"DATE","count":1}"#,
                #"{"fault":"INTERNAL","body":"EMPTY","count":1}"#, #"{"fault":"QUOTA_EXCEEDED","body":"HTML"}"#)
            let dated = try await client.sendMark("x", to: ("topic", "t"))
            let parser = DateFormatter()
            parser.locale = Locale(identifier: "en_US_POSIX")
            parser.timeZone = TimeZone(secondsFromGMT: 0)
            parser.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            let date = try #require(parser.date(from: dated.headers["Retry-After"].first ?? ""))
            #expect((60...121).contains(date.timeIntervalSinceNow))
            let empty = try await client.sendMark("x", to: ("topic", "t"))
            #expect(empty.status == 500 && empty.text.isEmpty)
            let html = try await client.sendMark("x", to: ("topic", "t"))
            #expect(html.status == 429 && html.text.contains("429"))
        }
    }

    @Test("An injected quota error of a phone names the phone") func deviceQuota() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            try await client.fault(#"{"fault":"QUOTA_EXCEEDED"}"#)
            let answer = try await client.sendMark("x", to: ("token", phone))
            #expect(answer.errorMessage == "Device quota exceeded.")
            let violations = answer.details.last?["violations"] as? [[String: String]]
            #expect(violations?.first?["subject"] == phone)
        }
    }

    @Test("The token endpoint and topic management fail in their own forms") func otherEndpoints() async throws {
        try await withEmulator { client in
            let account = try ServiceAccountHolder(in: client.folder)
            let assertion = try await account.sign(account.claims)
            for (rule, status, error) in [
                (#"{"fault":"INVALID_GRANT"}"#, 400, "invalid_grant"), (#"{"fault":"SKEWED_CLOCK"}"#, 400, "invalid_grant"),
                (#"{"fault":"UNAVAILABLE","on":"TOKEN"}"#, 503, "internal_failure"),
            ] {
                try await client.fault(rule)
                let answer = try await client.requestToken(assertion: assertion)
                #expect(answer.status == status)
                #expect(answer.object["error"] as? String == error, "\(answer.text)")
                #expect((answer.object["error_description"] as? String)?.isEmpty == false)
            }
            let skewed = try await client.requestToken(assertion: assertion)
            #expect(skewed.status == 503, "the rule is in force until it is replaced")
            try await client.fault(#"{"fault":"UNAVAILABLE","on":"TOPICS","topic":"t"}"#)
            let answer = try await client.subscribe([try await client.registerPhone()], to: "t")
            #expect(answer.status == 503)
            #expect(answer.object["error"] as? String == "The service is currently unavailable.")
            #expect(try await client.subscribe([try await client.registerPhone()], to: "other").status == 200)
            #expect(try await client.sendMark("x", to: ("topic", "t")).status == 200)
        }
    }
}
