import FoundationEssentials
import HTTPTransport
import Schemas
import Testing
import Base

@testable import FCMRelay

@Suite("The meaning of FCM's answers")
struct FCMAnswerTests {
    /// 2026-11-21T12:00:00Z.
    private static let now: UnixMilliseconds = 1_795_262_400_000

    private static func answer(
        _ status: Int, _ body: String = "", retryAfter: String? = nil
    ) -> FCMAnswer<String> {
        FCMAnswer.classify(
            HTTPTransportResponse(status: status, retryAfter: retryAfter, body: Data(body.utf8)),
            now: now)
    }

    /// An error in FCM's form.
    private static func body(_ status: Int, _ name: String, _ message: String, details: String = "") -> String {
        """
        {"error":{"code":\(status),"message":"\(message)","status":"\(name)","details":[\(details)]}}
        """
    }

    private static func detail(_ errorCode: String) -> String {
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(errorCode)"}"#
    }

    /// - Parameter scope: By default the message for permanent errors, otherwise the service.
    private static func refused(
        _ class: ErrorClass, _ code: String, _ message: String, after: Milliseconds? = nil, scope: SendFailure.Scope? = nil
    ) -> FCMAnswer<String> {
        .refused(
            SendFailure(
                DeliveryError(class: `class`, code: code, message: message, retryAfter: after),
                scope: scope ?? (`class` == .permanent ? .message : .service)))
    }

    @Test(
        "An answer 200 without a name is retried",
        arguments: ["", "{}", #"{"name":""}"#, #"{"name":7}"#, "<html>ok</html>", #"{"name":"proj"#, "null"])
    func successWithoutNameIsRetried(body: String) throws {
        let failure = try #require(Self.answer(200, body).refusal)
        let error = failure.error
        #expect(error.class == .retryable)
        #expect(error.code == "BAD_ANSWER")
        #expect(error.message.contains("may have accepted"))
    }

    @Test(
        "An FCM error code in the details decides that an error is permanent",
        arguments: [
            (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
            (404, "NOT_FOUND", "UNREGISTERED"), (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
            (401, "UNAUTHENTICATED", "APNS_AUTH_ERROR"),
        ])
    func permanentByDetail(status: Int, name: String, errorCode: String) {
        let body = Self.body(status, name, "No.", details: Self.detail(errorCode))
        #expect(Self.answer(status, body) == Self.refused(.permanent, errorCode, "No."))
    }

    /// FCM's text for a bad APNs key is that for a bad access token. The detail decides.
    @Test("THIRD_PARTY_AUTH_ERROR is not mistaken for a bad access token")
    func thirdPartyErrorInTheWordsOfABadToken() {
        let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other."
        let body = Self.body(401, "UNAUTHENTICATED", message, details: Self.detail("THIRD_PARTY_AUTH_ERROR"))
        #expect(Self.answer(401, body) == Self.refused(.permanent, "THIRD_PARTY_AUTH_ERROR", message))
    }

    @Test(
        "A refused access token is recognised",
        arguments: [
            (body(401, "UNAUTHENTICATED", "Expired."), "UNAUTHENTICATED", "Expired."),
            ("", "HTTP_401", "FCM answered 401 without saying why"),
            ("<html>", "HTTP_401", "FCM answered 401 without saying why"),
            (
                body(
                    401, "UNAUTHENTICATED", "Expired.",
                    details: #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"ACCESS_TOKEN_EXPIRED"}"#),
                "ACCESS_TOKEN_EXPIRED", "Expired."
            ),
        ])
    func tokenRefused(body: String, code: String, message: String) {
        #expect(
            Self.answer(401, body)
                == .tokenRefused(
                    SendFailure(DeliveryError(class: .retryable, code: code, message: message), scope: .service)))
    }

    @Test("Without details, the status decides that an error is permanent")
    func permanentByStatusAlone() {
        let violations = #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[]}"#
        let message = "Invalid value at 'message.data[0].value' (TYPE_STRING), 12"
        #expect(
            Self.answer(400, Self.body(400, "INVALID_ARGUMENT", message, details: violations))
                == Self.refused(.permanent, "INVALID_ARGUMENT", message))
        #expect(
            Self.answer(403, Self.body(403, "PERMISSION_DENIED", "No permission."))
                == Self.refused(.permanent, "PERMISSION_DENIED", "No permission."))
        #expect(
            Self.answer(404, Self.body(404, "NOT_FOUND", "Requested entity was not found."))
                == Self.refused(.permanent, "NOT_FOUND", "Requested entity was not found."))
    }

    /// A project's own quota has no `FcmError`.
    @Test("An exhausted quota of the project is recognised")
    func projectQuota() {
        let info = #"""
            {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com",
            "metadata":{"quota_metric":"fcm.googleapis.com/send_requests","quota_limit":"SendsPerMinutePerProject"}},
            {"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"d","url":"https://cloud.google.com"}]}
            """#
        let body = Self.body(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", details: info)
        for (header, pause) in [(nil, 60_000), ("17", 17_000)] as [(String?, Milliseconds)] {
            #expect(
                Self.answer(429, body, retryAfter: header)
                    == Self.refused(.retryable, "RATE_LIMIT_EXCEEDED", "Quota exceeded.", after: pause, scope: .project))
        }
    }

    @Test("An exhausted quota of a topic is recognised")
    func topicQuota() {
        let details =
            #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"topic"}]},"#
            + Self.detail("QUOTA_EXCEEDED")
        let body = Self.body(429, "RESOURCE_EXHAUSTED", "Topic quota exceeded.", details: details)
        #expect(
            Self.answer(429, body)
                == Self.refused(.retryable, "QUOTA_EXCEEDED", "Topic quota exceeded.", after: 60_000, scope: .topic))
    }

    @Test(
        "Errors of FCM that pass are retryable",
        arguments: [
            (500, "INTERNAL", Milliseconds(rawValue: 10_000), SendFailure.Scope.service), (503, "UNAVAILABLE", 10_000, .service),
            (429, "RESOURCE_EXHAUSTED", 60_000, .project),
        ])
    func retryable(status: Int, name: String, pause: Milliseconds, scope: SendFailure.Scope) throws {
        let byDetail = Self.body(
            status, name, "Later.", details: Self.detail(name == "RESOURCE_EXHAUSTED" ? "QUOTA_EXCEEDED" : name))
        let failure = try #require(Self.answer(status, byDetail).refusal)
        #expect(failure.error.class == .retryable)
        #expect(failure.error.retryAfter == pause)
        #expect(
            Self.answer(status, Self.body(status, name, "Later."))
                == Self.refused(.retryable, name, "Later.", after: pause, scope: scope))
    }

    /// HTTP's status decides if there is no body, or only a proxy's page.
    @Test(
        "An answer with a body that is not FCM's is judged by its status",
        arguments: [
            (400, ErrorClass.permanent, nil), (403, .permanent, nil), (404, .permanent, nil), (413, .permanent, nil),
            (408, .retryable, 10_000), (429, .retryable, 60_000), (500, .retryable, 10_000), (502, .retryable, 30_000),
            (503, .retryable, 10_000), (504, .retryable, 10_000), (302, .retryable, 10_000),
        ] as [(Int, ErrorClass, Milliseconds?)], ["", "<html><title>Error</title></html>", "[1,2", "\u{0}", "{\"error\":7}"])
    func noBodyOfFCM(answer: (status: Int, class: ErrorClass, pause: Milliseconds?), body: String) {
        #expect(
            Self.answer(answer.status, body)
                == Self.refused(
                    answer.class, "HTTP_\(answer.status)", "FCM answered \(answer.status) without saying why",
                    after: answer.pause, scope: answer.status == 429 ? .project : nil))
    }

    /// `UNSPECIFIED_ERROR` has no meaning: the next code counts.
    @Test("UNSPECIFIED_ERROR is judged by its status")
    func unspecifiedError() {
        let body = Self.body(503, "UNAVAILABLE", "?", details: Self.detail("UNSPECIFIED_ERROR"))
        #expect(Self.answer(503, body) == Self.refused(.retryable, "UNAVAILABLE", "?", after: 10_000))
    }

    /// An unknown code is the error's code, but the next known code decides the verdict.
    @Test("An unknown error code is judged by its status")
    func unknownCodes() {
        let body = Self.body(400, "INVALID_ARGUMENT", "?", details: Self.detail("BRAND_NEW"))
        #expect(Self.answer(400, body) == Self.refused(.permanent, "BRAND_NEW", "?"))
        #expect(Self.answer(503, Self.body(503, "WHATEVER", "?")) == Self.refused(.retryable, "WHATEVER", "?", after: 10_000))
    }

    @Test("An error code that is not one is ignored", arguments: ["low er", "", "Größe", String(repeating: "A", count: 65)])
    func codesThatAreNone(code: String) {
        let body = Self.body(400, code, "?", details: Self.detail(code))
        #expect(Self.answer(400, body) == Self.refused(.permanent, "HTTP_400", "?"))
    }

    @Test("Members of a wrong type are ignored")
    func partsOfWrongType() {
        let body = #"{"error":{"code":"x","message":5,"status":"UNAVAILABLE","details":[1,{"@type":3},null]}}"#
        #expect(
            Self.answer(503, body)
                == Self.refused(.retryable, "UNAVAILABLE", "FCM answered 503 without saying why", after: 10_000))
    }

    @Test("A long error message is cut")
    func longMessagesAreCut() {
        let body = Self.body(400, "INVALID_ARGUMENT", String(repeating: "x", count: 5_000))
        #expect(
            Self.answer(400, body) == Self.refused(.permanent, "INVALID_ARGUMENT", String(repeating: "x", count: 200)))
    }

    @Test(
        "Retry-After is read as seconds or as a date",
        arguments: [
            ("30", 30_000), (" 5", 5_000), ("0", 1_000), ("99999999999999999999999", 3_600_000), ("7200", 3_600_000),
            ("Sat, 21 Nov 2026 12:00:45 GMT", 45_000), ("Sat, 21 Nov 2026 11:00:00 GMT", 1_000),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600_000),
            // A meaningless value is treated like a missing one.
            ("", 10_000), ("-3", 10_000), ("soon", 10_000), ("1e9", 10_000), ("Sat, 99 Nov 2026 12:00:45 GMT", 10_000),
            ("Sat, 21 Foo 2026 12:00:45 GMT", 10_000), ("Sat, 21 Nov 99999999999999999999 12:00:45 GMT", 10_000),
            ("Fri, 21 Nov 1969 12:00:45 GMT", 10_000), ("Sat, 21 Nov 0000 12:00:45 GMT", 10_000),
            ("Sat, 21 Nov 12026 12:00:45 GMT", 10_000), ("Sat, 21 Nov 2026 12:00:45.123456 GMT", 10_000),
        ] as [(String, Milliseconds)])
    func retryAfter(header: String, pause: Milliseconds) {
        #expect(
            Self.answer(503, Self.body(503, "UNAVAILABLE", "."), retryAfter: header)
                == Self.refused(.retryable, "UNAVAILABLE", ".", after: pause))
    }
}
