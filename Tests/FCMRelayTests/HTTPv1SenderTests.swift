import FCM
import FoundationEssentials
import HTTPTransport
import HTTPTypes
import Base
import Logging
import Schemas
import TestSupport
import Testing

@testable import FCMRelay

@Suite("The sender for FCM's HTTP v1 API")
struct HTTPv1SenderTests {
    private func send(
        _ sender: HTTPv1Sender, _ message: RelayMessage = .sample(), _ component: Component = .data,
        before expiry: Duration = .seconds(3_600), within time: Duration = .seconds(20)
    ) async -> Result<String, DeliveryError> {
        await sender.send(
            component, of: message, now: message.timestamp, before: .now + expiry, by: .now + time
        ).mapError(\.error)
    }

    @Test("It sends the seed's fields, and returns FCM's name for the message")
    func sendsTheSeedsFieldsAndReturnsFCMsName() async throws {
        let google = GoogleDouble { _ in .init(200, #"{"name":"projects/campus-test/messages/1"}"#) }
        try await withSender(to: google) { sender, server in
            let message = RelayMessage.sample()
            #expect(await send(sender, message) == .success("projects/campus-test/messages/1"))
            let request = try #require(server.requests.last)
            #expect(request.path == "/v1/projects/campus-test/messages:send")
            #expect(request.headers[.contentType] == "application/json")
            #expect(request.body == FCMRequest.body(.data, of: message, now: message.timestamp))
            #expect(try JSONValue(parsing: request.body)["message"]?["data"]?["title"] == "Library \"closed\" 🎓")
        }
    }

    @Test("A hundred sends at once request one access token")
    func oneTokenForAHundredSendsAtOnce() async throws {
        let google = GoogleDouble { _ in .init(200, #"{"name":"n"}"#) }
        try await withSender(to: google) { sender, server in
            try await concurrently(100) { _ in #expect(await send(sender) == .success("n")) }
            #expect(google.grants == 1)
            #expect(server.requests.count == 101)
        }
    }

    @Test("An access token that a hundred sends find refused is replaced once")
    func aRefusedTokenIsReplacedOnceForAHundredSends() async throws {
        let google = GoogleDouble { _ in .init(200, #"{"name":"n"}"#) }
        try await withSender(to: google) { sender, server in
            #expect(await send(sender) == .success("n"))
            google.revokeTokens()
            try await concurrently(100) { _ in #expect(await send(sender) == .success("n")) }
            #expect(google.grants == 2)
        }
    }

    @Test("Components are sent in order, and each gets its own answer")
    func componentsAreSentInTheirOrderAndHaveEachTheirOwnAnswer() async throws {
        let google = GoogleDouble { request in
            let isNotification = String(decoding: request.body, as: UTF8.self).contains(#""notification":{"#)
            return isNotification
                ? .init(400, #"{"error":{"code":400,"message":"No.","status":"INVALID_ARGUMENT"}}"#)
                : .init(200, #"{"name":"n"}"#)
        }
        try await withSender(to: google) { sender, server in
            let message = RelayMessage.sample()
            for _ in 0..<2 {
                let results = await sender.send(
                    [.notification, .data], of: message, now: message.timestamp, before: .now + .seconds(60),
                    by: .now + .seconds(20))
                #expect(results.count == 2)
                let failure = try #require(results.first?.failure)
                #expect(failure.error.code == "INVALID_ARGUMENT")
                #expect(results.last == .success("n"))
                // And again after the token of both was refused.
                google.revokeTokens()
            }
            #expect(google.grants == 2)
        }
    }

    @Test("Access tokens that FCM always refuses are a retryable error")
    func aTokenThatIsNeverTakenIsARetryableError() async throws {
        let google = GoogleDouble { _ in
            .init(401, #"{"error":{"code":401,"message":"No.","status":"UNAUTHENTICATED"}}"#)
        }
        try await withSender(to: google) { sender, server in
            let error = DeliveryError(class: .retryable, code: "UNAUTHENTICATED", message: "No.")
            #expect(await send(sender) == .failure(error))
            let sends = server.requests.count { $0.path != "/token" }
            #expect(sends == 2)
            #expect(google.grants == 2)
            // It does not request one token after another.
            let next = try #require(await send(sender).failure)
            #expect(next.code == "OAUTH")
            #expect(next.class == .retryable)
            #expect(google.grants == 2)
        }
    }

    @Test("A missing access token is a retryable error that says why it is missing")
    func noTokenIsARetryableErrorThatSaysWhy() async throws {
        let google = GoogleDouble { _ in .init(200, #"{"name":"n"}"#) }
        google.refuseTokens(
            with: .init(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#))
        try await withSender(to: google) { sender, server in
            let error = try #require(await send(sender).failure)
            #expect(error.class == .retryable)
            #expect(error.code == "OAUTH")
            #expect(error.message == "the token endpoint answered 400 invalid_grant: Invalid JWT Signature.")
            #expect(error.retryAfter == 1_000)
            #expect(server.requests.count == 1)
            google.refuseTokens(with: nil)
            try await eventually { await send(sender) == .success("n") }
        }
    }

    @Test("A send does not wait for an access token beyond its deadline")
    func waitingForATokenEndsWithTheDeadline() async throws {
        try await withTLSServer { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(200)
        } _: { server in
            let transport = try CurlTransport(.fcm(trusting: server.certificateFile))
            let account = try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: server.url + "/token"))
            let tokens = AccessTokenSource(
                granter: TokenEndpoint(account: account, transport: transport, now: { .now }), project: "p", logger: .quiet)
            let sender = HTTPv1Sender(
                endpoint: server.url, project: "p", google: GoogleClient(transport: transport, tokens: tokens),
                now: { .now })
            let begin = ContinuousClock.now
            let result = await send(sender, within: .milliseconds(200))
            #expect(ContinuousClock.now - begin < .seconds(50))
            #expect(
                result == .failure(DeliveryError(class: .retryable, code: "OAUTH", message: "no access token in time")))
            // A cancelled waiter leaves as well.
            let cancelled = Task { await send(sender) }
            cancelled.cancel()
            let error = try #require(await cancelled.value.failure)
            #expect(error.code == "OAUTH")
            await transport.close()
        }
    }

    @Test("A message that expires while there is no access token is not sent")
    func whatExpiresWhileThereIsNoTokenIsNotSent() async throws {
        let google = GoogleDouble { _ in .init(200, #"{"name":"n"}"#) }
        try await withSender(to: google) { sender, server in
            // Getting a token takes longer.
            let tooLate = DeliveryError(class: .retryable, code: "OAUTH", message: "no access token in time")
            #expect(await send(sender, before: .milliseconds(5)) == .failure(tooLate))
            #expect(server.requests.allSatisfy { $0.path == "/token" })
            #expect(await send(sender) == .success("n"))
            #expect(await send(sender, before: .zero) == .failure(.expired))
            #expect(server.requests.count { $0.path != "/token" } == 1)
        }
    }

    @Test("An answer that comes shortly after the expiry still counts; one that comes too late is a retryable error")
    func anAnswerMayComeALittleAfterTheExpiry() async throws {
        let google = GoogleDouble { request in
            let isSlow = String(decoding: request.body, as: UTF8.self).contains("slow")
            try await Task.sleep(for: isSlow ? .seconds(60) : .seconds(1))
            return .init(200, #"{"name":"n"}"#)
        }
        try await withSender(to: google) { sender, _ in
            #expect(await send(sender) == .success("n"))
            // Not the first time, if the machine is so busy that it is sent late.
            try await eventually { await send(sender, before: .milliseconds(700)) == .success("n") }
            let expired = try #require(await send(sender, .sample(message: "slow"), before: .seconds(1)).failure)
            #expect(expired.code == "TIMEOUT")
            let late = try #require(await send(sender, .sample(message: "slow"), within: .seconds(2)).failure)
            #expect(late.class == .retryable && late.code == "TIMEOUT")
        }
    }

    @Test(
        "An answer of the token endpoint that is not a token is a failure",
        arguments: [
            #"{"access_token":"","expires_in":3599,"token_type":"Bearer"}"#,
            #"{"access_token":"a\r\nx: y","expires_in":3599,"token_type":"Bearer"}"#,
            #"{"access_token":"a","expires_in":-1,"token_type":"Bearer"}"#,
            #"{"access_token":"a","expires_in":1e300,"token_type":"Bearer"}"#,
            #"{"access_token":"a","token_type":"Bearer"}"#,
            #"{"access_token":"a","expires_in":3599,"token_type":"MAC"}"#,
            "", "<html>", "[]",
        ])
    func grantsThatAreNone(body: String) {
        #expect(throws: TokenFailure("the token endpoint answered 200 without a bearer token and its lifetime")) {
            try TokenEndpoint.read(HTTPTransportResponse(status: 200, body: Data(body.utf8)))
        }
    }

    @Test("An access token's lifetime is limited")
    func aLongLifeIsCut() throws {
        let body = #"{"access_token":"a","expires_in":9223372036854775807,"token_type":"bearer"}"#
        let granted = try TokenEndpoint.read(HTTPTransportResponse(status: 200, body: Data(body.utf8)))
        #expect(granted == GrantedToken(token: AccessToken(value: "a"), lifetime: .seconds(86_400)))
    }
}
