import FoundationEssentials
import Logging
import Schemas
import Synchronization
import Testing

@testable import FCMRelay

/// What is done about an FCM that cannot be reached for a moment.
struct UnreachableFCMTests {
    /// Nobody takes the first requests; then FCM is back.
    private final class Outage: HTTPTransport {
        private let left: Mutex<Int>
        private let mayHaveBeenProcessed: Bool
        private let answer: String

        init(of requests: Int, mayHaveBeenProcessed: Bool = false, then answer: String = #"{"name":"n"}"#) {
            left = Mutex(requests)
            self.mayHaveBeenProcessed = mayHaveBeenProcessed
            self.answer = answer
        }

        func send(_ request: HTTPTransportRequest) async throws(TransportError) -> HTTPTransportResponse {
            let isOver = left.withLock { left in
                left -= 1
                return left < 0
            }
            guard isOver else {
                throw TransportError(.notReachable, "connection refused", mayHaveBeenProcessed: mayHaveBeenProcessed)
            }
            return HTTPTransportResponse(status: 200, body: Data(answer.utf8))
        }

        func close() async {}
    }

    private struct Granter: TokenGranter {
        func grant() async throws(TokenFailure) -> GrantedToken {
            GrantedToken(token: AccessToken(value: "t"), lifetime: .seconds(3_600))
        }
    }

    private func outcome(
        _ outage: Outage, before expiry: Duration = .seconds(30), within time: Duration = .seconds(30)
    ) async -> Result<String, ComponentError> {
        let tokens = AccessTokenSource(granter: Granter(), logger: Logger(label: "test"))
        let sender = HTTPv1Sender(
            endpoint: "https://fcm.test", project: "p", api: AuthorizedPost(transport: outage, tokens: tokens), now: { 0 })
        return await sender.send(.data, of: .sample(), now: 0, before: .now + expiry, by: .now + time)
            .mapError(\.error)
    }

    @Test func whatNobodyTookIsSentAgainAtOnce() async {
        #expect(await outcome(Outage(of: 3)) == .success("n"))
    }

    @Test func soIsTheRequestForAToken() async throws {
        let outage = Outage(of: 6, then: #"{"access_token":"t","expires_in":3599,"token_type":"Bearer"}"#)
        let endpoint = TokenEndpoint(
            account: try await ServiceAccount(json: TestAccount.json(tokenURI: "https://oauth.test/token")), transport: outage,
            now: { .now })
        #expect(try await endpoint.grant().token == AccessToken(value: "t"))
    }

    @Test func whatMayHaveArrivedIsNot() async {
        guard case .failure(let error) = await outcome(Outage(of: 1, mayHaveBeenProcessed: true)) else {
            Issue.record("sent again")
            return
        }
        #expect(error.class == .retryable)
    }

    @Test(arguments: [(Duration.seconds(1), Duration.seconds(30)), (.seconds(30), .seconds(1))])
    func notBeyondTheExpiryOrTheDeadline(expiry: Duration, deadline: Duration) async {
        let began = ContinuousClock.now
        guard case .failure(let error) = await outcome(Outage(of: .max), before: expiry, within: deadline) else {
            Issue.record("accepted")
            return
        }
        // Expired before the first request, where the machine was busy.
        #expect(["NETWORK", "EXPIRED"].contains(error.code))
        #expect(.now - began < .milliseconds(2_800))
    }
}
