import FoundationEssentials
import HTTPTransport
import Logging
import Schemas
import Synchronization
import Testing
import TestSupport

@testable import FCMRelay

/// Short outages of FCM.
@Suite("An FCM that cannot be reached for a moment")
struct UnreachableFCMTests {
    /// The first requests reach no server. Then FCM is reachable again.
    private final class Outage: Sendable {
        private let left: Mutex<Int>
        private let length: Int
        private let mayHaveBeenProcessed: Bool
        private let answer: String

        init(of requests: Int, mayHaveBeenProcessed: Bool = false, then answer: String = #"{"name":"n"}"#) {
            left = Mutex(requests)
            length = requests
            self.mayHaveBeenProcessed = mayHaveBeenProcessed
            self.answer = answer
        }

        var transport: TransportDouble { TransportDouble { _ in self.next() } }

        private func next() -> HTTPTransportOutcome {
            let isOver = left.withLock { left in
                left -= 1
                return left < 0
            }
            guard isOver else {
                return .failure(
                    TransportError(.notReachable, "connection refused", mayHaveBeenProcessed: mayHaveBeenProcessed))
            }
            return .success(HTTPTransportResponse(status: 200, body: Data(answer.utf8)))
        }

        /// The number of requests so far.
        var requests: Int { length - left.withLock(\.self) }
    }

    private static func sender(_ outage: Outage) -> HTTPv1Sender {
        HTTPv1Sender(endpoint: "https://fcm.test", project: "p", google: .sample(outage.transport), now: { 0 })
    }

    private func outcome(
        _ outage: Outage, before expiry: Duration = .seconds(30), within time: Duration = .seconds(30)
    ) async -> Result<String, DeliveryError> {
        await Self.sender(outage).send(.data, of: .sample(), now: 0, before: .now + expiry, by: .now + time)
            .mapError(\.error)
    }

    @Test("A request that did not reach FCM is sent again at once")
    func whatNobodyTookIsSentAgainAtOnce() async {
        #expect(await outcome(Outage(of: 3)) == .success("n"))
    }

    /// Only the component that has reached no server is repeated. The other one would be doubled.
    @Test("Of an Alert, only the component that did not reach FCM is sent again")
    func andNothingElse() async {
        let outage = Outage(of: 1)
        let results = await Self.sender(outage).send(
            [.notification, .data], of: .sample(), now: 0, before: .now + .seconds(30), by: .now + .seconds(30))
        #expect(results == [.success("n"), .success("n")])
        #expect(outage.requests == 3)
    }

    @Test("A token request that did not reach the server is sent again at once")
    func soIsTheRequestForAToken() async throws {
        let outage = Outage(of: 2, then: #"{"access_token":"t","expires_in":3599,"token_type":"Bearer"}"#)
        let endpoint = TokenEndpoint(
            account: try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: "https://oauth.test/token")),
            transport: outage.transport,
            now: { .now })
        #expect(try await endpoint.grant().token == AccessToken(value: "t"))
    }

    @Test("A request that FCM may have received is not sent again")
    func whatMayHaveArrivedIsNot() async throws {
        let error = try #require(await outcome(Outage(of: 1, mayHaveBeenProcessed: true)).failure)
        #expect(error.class == .retryable)
    }

    /// The first pause is longer than the remaining time.
    @Test(
        "No request is sent again after the expiry or the deadline",
        arguments: [(Duration.milliseconds(50), Duration.seconds(30)), (.seconds(30), .milliseconds(50))])
    func notBeyondTheExpiryOrTheDeadline(expiry: Duration, deadline: Duration) async throws {
        let outage = Outage(of: .max)
        let error = try #require(await outcome(outage, before: expiry, within: deadline).failure)
        // On a busy machine it may expire before the first request.
        #expect(["NETWORK", "EXPIRED"].contains(error.code))
        #expect(outage.requests <= 1)
    }
}
