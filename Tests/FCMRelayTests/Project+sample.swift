import HTTPTransport
import Schemas

@testable import FCMRelay

extension Project {
    /// A project with a test's own sender.
    static func sample(
        _ id: String, _ sender: any FCMSender, google: GoogleClient = .unreachable, rate: Double = 1_000_000
    ) -> Project {
        Project(
            id: id, google: google, sender: sender, topics: TopicManager(endpoint: "https://iid", google: google, now: { .now }),
            pacer: Pacer(rate: rate, ramp: .zero))
    }
}

extension FCMSender {
    /// Sends one component.
    func send(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> Result<String, SendFailure> {
        await send([component], of: message, now: now, before: expiry, by: deadline)[0]
    }
}

extension Result {
    /// The error; `nil` for a success.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension FCMAnswer {
    /// Why FCM refused, other than for the access token; `nil` if it did not.
    var refusal: SendFailure? { if case .refused(let failure) = self { failure } else { nil } }
}

extension GoogleClient {
    /// A client without a network.
    static let unreachable = sample(TransportDouble { _ in .failure(TransportError(.notReachable, "there is no network")) })

    /// A client with an access token that is always there.
    static func sample(_ transport: any HTTPTransport) -> GoogleClient {
        struct Granter: TokenGranter {
            func grant() async throws(TokenFailure) -> GrantedToken {
                GrantedToken(token: AccessToken(value: "token"), lifetime: .seconds(3_600))
            }
        }
        return GoogleClient(
            transport: transport, tokens: AccessTokenSource(granter: Granter(), project: "p", logger: .quiet))
    }
}

/// A transport in the process of the test, with a test's own answers.
struct TransportDouble: HTTPTransport {
    private let answer: @Sendable (HTTPTransportRequest) async -> HTTPTransportOutcome

    init(_ answer: @escaping @Sendable (HTTPTransportRequest) async -> HTTPTransportOutcome) {
        self.answer = answer
    }

    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        var outcomes: [HTTPTransportOutcome] = []
        for request in requests { outcomes.append(await answer(request)) }
        return outcomes
    }

    func refuseNewRequests() {}
    func renewConnections() {}
    func close() async {}
}
