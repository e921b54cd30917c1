import FoundationEssentials
import Schemas
import Testing
import Time

@testable import FCMRelay

@Suite("Answers of FCM's legacy API")
struct LegacyAnswerTests {
    private static func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> FCMAnswer<String> {
        .classifyLegacy(HTTPTransportResponse(status: status, retryAfter: retryAfter, body: Data(body.utf8)), now: 0)
    }

    @Test("The message ID is a number for a topic, and a text for a phone")
    func accepted() {
        #expect(Self.answer(200, #"{"message_id":8470163482041905232}"#) == .accepted("8470163482041905232"))
        let multicast = #"{"multicast_id":1,"success":1,"failure":0,"canonical_ids":0,"results":[{"message_id":"0:15%a"}]}"#
        #expect(Self.answer(200, multicast) == .accepted("0:15%a"))
    }

    @Test(
        "Each error of the legacy API has its meaning",
        arguments: [
            ("NotRegistered", ErrorClass.permanent, nil, SendFailure.Scope.message), ("InvalidTtl", .permanent, nil, .message),
            ("MessageTooBig", .permanent, nil, .message), ("SomethingNew", .permanent, nil, .message),
            ("Unavailable", .retryable, 10_000, .service), ("InternalServerError", .retryable, 10_000, .service),
            ("TopicsMessageRateExceeded", .retryable, 60_000, .topic),
            ("DeviceMessageRateExceeded", .retryable, 60_000, .message),
        ] as [(String, ErrorClass, Milliseconds?, SendFailure.Scope)], [#"{"error":"E"}"#, #"{"results":[{"error":"E"}]}"#])
    func refused(error: (name: String, class: ErrorClass, pause: Milliseconds?, scope: SendFailure.Scope), form: String) throws {
        let failure = try #require(Self.answer(200, form.replacing("\"E\"", with: "\"\(error.name)\"")).refusal)
        #expect(failure.error.class == error.class)
        #expect(failure.error.code == error.name)
        #expect(failure.error.retryAfter == error.pause)
        #expect(failure.scope == error.scope)
    }

    @Test("Retry-After takes precedence over the usual pause")
    func retryAfter() throws {
        let failure = try #require(Self.answer(200, #"{"error":"Unavailable"}"#, retryAfter: "40").refusal)
        #expect(failure.error.retryAfter == 40_000)
    }

    @Test(
        "A refused call is judged by its status",
        arguments: [(400, ErrorClass.permanent), (401, .retryable), (429, .retryable), (500, .retryable), (503, .retryable)])
    func calls(status: Int, expected: ErrorClass) throws {
        let failure = try #require(Self.answer(status, "INVALID_KEY").refusal)
        #expect(failure.error.class == expected)
        // An operator must correct a refused server key.
        if status == 401 { #expect(failure.error.retryAfter == 60_000) }
    }

    @Test(
        "An answer without a result, or with an error name that is not one, is retried",
        arguments: [
            "", "{}", "<html>", #"{"message_id":""}"#, #"{"results":[]}"#, #"{"results":[{}]}"#, #"{"error":7}"#,
            #"{"error":""}"#,
            #"{"error":"no name"}"#, #"{"error":"Größe"}"#, #"{"error":"<b>"}"#,
        ])
    func nothing(body: String) throws {
        let failure = try #require(Self.answer(200, body).refusal)
        #expect(failure.error.code == "BAD_ANSWER")
        #expect(failure.error.class == .retryable)
    }
}
