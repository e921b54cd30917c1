import Base
import FoundationEssentials
import HTTPTransport
import Schemas
import Testing

@testable import WebPush

@Suite("The answers of push services")
struct PushAnswerTests {
    private func read(_ outcome: HTTPTransportOutcome, isProven: Bool = true, after time: Duration = .seconds(1)) -> PushAnswer {
        PushAnswer(outcome, isProven: isProven, after: time, now: 0)
    }

    private func problem(_ answer: PushAnswer) -> WebPushFailure? {
        if case .failure(let failure) = answer.result { failure } else { nil }
    }

    /// The failure that an answer has to lead to.
    struct Expected: Sendable, CustomTestStringConvertible {
        let status: Int
        var header: String?
        let errorClass: ErrorClass
        let code: String
        var retryAfter: Milliseconds?
        var consequence = WebPushFailure.Consequence.none

        var testDescription: String { "\(status) \(header ?? "")" }
    }

    @Test("An accepted push has the name of its location")
    func accepted() {
        #expect(
            read(.success(.init(status: 201, location: "https://push.example/m/1"))).result
                == .success("https://push.example/m/1"))
        #expect(read(.success(.init(status: 201))).result == .success("HTTP_201"))
        #expect(read(.success(.init(status: 200))).lesson == .accepted)
        let long = String(repeating: "x", count: 501)
        #expect(read(.success(.init(status: 201, location: long))).result == .success("HTTP_201"))
    }

    @Test(
        "Each refusal has its consequence, and the time that the service asks for",
        arguments: [
            Expected(status: 404, errorClass: .permanent, code: "UNREGISTERED", consequence: .gone),
            Expected(status: 410, errorClass: .permanent, code: "UNREGISTERED", consequence: .gone),
            Expected(status: 413, errorClass: .permanent, code: "PAYLOAD_TOO_LARGE"),
            Expected(status: 301, errorClass: .permanent, code: "HTTP_301"),
            Expected(status: 307, errorClass: .permanent, code: "HTTP_307"),
            Expected(status: 415, errorClass: .permanent, code: "HTTP_415"),
            Expected(status: 429, errorClass: .retryable, code: "HTTP_429", retryAfter: 30_000),
            Expected(status: 429, header: "7", errorClass: .retryable, code: "HTTP_429", retryAfter: 7_000),
            Expected(status: 408, errorClass: .retryable, code: "HTTP_408", retryAfter: 10_000),
            Expected(status: 500, errorClass: .retryable, code: "HTTP_500", retryAfter: 10_000),
            Expected(status: 503, header: "120", errorClass: .retryable, code: "HTTP_503", retryAfter: 120_000),
            Expected(
                status: 503, header: "Thu, 01 Jan 1970 00:00:05 GMT", errorClass: .retryable, code: "HTTP_503", retryAfter: 5_000),
            Expected(status: 400, errorClass: .retryable, code: "HTTP_400"),
            Expected(status: 401, errorClass: .retryable, code: "HTTP_401"),
            Expected(status: 403, errorClass: .retryable, code: "HTTP_403"),
            Expected(status: 100, errorClass: .retryable, code: "BAD_ANSWER"),
        ])
    func refused(expected: Expected) throws {
        let response = HTTPTransportResponse(status: expected.status, retryAfter: expected.header, body: Data("why\n not".utf8))
        let failure = try #require(problem(read(.success(response))))
        #expect(failure.error.class == expected.errorClass)
        #expect(failure.error.code == expected.code)
        #expect(failure.error.retryAfter == expected.retryAfter)
        #expect(failure.consequence == expected.consequence)
        if !(300..<400).contains(expected.status) { #expect(failure.error.message.hasSuffix(": why not")) }
    }

    @Test("An answer that repeats the endpoint does not bring its secret into the error")
    func repeatedEndpoint() throws {
        let secret = String(repeating: "aB3-_", count: 24)
        let body = "A valid endpoint is expected, found https://push.example/wp/\(secret)"
        let failure = try #require(problem(read(.success(.init(status: 400, body: Data(body.utf8))))))
        #expect(failure.error.message.hasSuffix(": A valid endpoint is expected, found https://push.example/wp/…"))
        let code = Data(#"{"reason":"VapidPkHashMismatch","errno":109}"#.utf8)
        let known = try #require(problem(read(.success(.init(status: 400, body: code)))))
        #expect(known.error.message.hasSuffix(#": {"reason":"VapidPkHashMismatch","errno":109}"#))
    }

    @Test("The first push of a subscription is refused because of the subscription", arguments: [400, 401, 403])
    func unproven(status: Int) throws {
        let answer = read(.success(HTTPTransportResponse(status: status)), isProven: false)
        let failure = try #require(problem(answer))
        #expect(failure.error.class == .permanent)
        #expect(failure.consequence == .unusable && failure.endsSubscription)
        #expect(answer.lesson == .answered)
    }

    @Test("What an answer says about the service")
    func lessons() {
        func lesson(_ status: Int, _ header: String? = nil) -> PushAnswer.Lesson {
            read(.success(HTTPTransportResponse(status: status, retryAfter: header))).lesson
        }
        #expect(lesson(410) == .answered && lesson(413) == .answered && lesson(302) == .answered)
        #expect(lesson(429) == .throttled(nil) && lesson(429, "2") == .throttled(2_000) && lesson(503, "2") == .throttled(2_000))
        if case .failed = lesson(503) {} else { Issue.record("a failing service that names no pause has failed") }
        if case .refused = lesson(403) {} else { Issue.record("a service that refuses a proven subscription refuses the hub") }
    }

    @Test("An answer about one subscription is none about its service")
    func aboutSubscription() {
        func isAboutSubscription(_ status: Int, isProven: Bool = true) -> Bool {
            read(.success(HTTPTransportResponse(status: status)), isProven: isProven).isAboutSubscription
        }
        for status in [404, 410, 413] { #expect(isAboutSubscription(status), "\(status)") }
        for status in [201, 302, 403, 415, 429, 503] { #expect(!isAboutSubscription(status), "\(status)") }
        #expect(!isAboutSubscription(403, isProven: false) && !read(.failure(TransportError(.tls, "broken"))).isAboutSubscription)
    }

    @Test(
        "A request without an answer is retried, and counts against the service if it had time",
        arguments: [
            (TransportError.Code.notReachable, "NETWORK"), (.reset, "NETWORK"), (.tls, "TLS"), (.timeout, "TIMEOUT"),
            (.refusedAddress, "REFUSED_ADDRESS"), (.tooLarge, "BAD_ANSWER"), (.overloaded, "OVERLOADED"),
            (.cancelled, "STOPPING"),
            (.stopped, "STOPPING"), (.other, "NETWORK"),
        ])
    func unanswered(code: TransportError.Code, expected: String) throws {
        let failure = try #require(problem(read(.failure(TransportError(code, "broken")))))
        #expect(failure.error.code == expected && failure.error.class == .retryable && !failure.endsSubscription)
    }

    @Test(
        "A timeout counts against the service after half a second, and without a connection after five",
        arguments: [(true, 499, false), (true, 500, true), (false, 4_999, false), (false, 5_000, true)])
    func timeouts(wasSent: Bool, milliseconds: Int, counts: Bool) {
        let error = TransportError(.timeout, "no answer in time", mayHaveBeenProcessed: wasSent)
        let lesson = read(.failure(error), after: .milliseconds(milliseconds)).lesson
        #expect((lesson == .inconclusive) == !counts)
    }
}
