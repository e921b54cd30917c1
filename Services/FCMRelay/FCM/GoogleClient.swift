import FoundationEssentials
import HTTPTransport
import ServiceKit

/// JSON requests to Google's APIs with the project's access token.
///
/// A request has Google's timeout. If it certainly has not reached Google, it is sent again for a few seconds. If Google refuses
/// the token, it is sent once more with a new one.
struct GoogleClient: Sendable {
    /// How long after its message's expiry a request may still be answered. The request may wait for a connection first, so this
    /// is also the maximum delay after which FCM gets an expired message.
    private static let timeAfterExpiry = Duration.seconds(1)

    let transport: any HTTPTransport
    let tokens: AccessTokenSource

    /// - Parameters:
    ///   - bodies: The body of each POST; `nil` for a GET.
    ///   - headers: Headers in addition to the content type and the token.
    ///   - expiry: Nothing is sent after this time.
    ///   - deadline: When to give up.
    ///   - read: Interprets an answer.
    /// - Returns: The outcome of each request.
    func send<Accepted>(
        _ bodies: [Data?], to url: String, headers: [String] = [], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) async -> [Result<Accepted, SendFailure>] {
        var answers = await attempt(bodies, url, headers, before: expiry, by: deadline, read: read)
        if case let refused = answers.indices.filter({ answers[$0].isTokenRefused }), !refused.isEmpty {
            let again = await attempt(refused.map { bodies[$0] }, url, headers, before: expiry, by: deadline, read: read)
            for (index, answer) in zip(refused, again) { answers[index] = answer }
        }
        return answers.map(\.result)
    }

    @inline(__always)
    private func attempt<Accepted>(
        _ bodies: [Data?], _ url: String, _ headers: [String], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) async -> [FCMAnswer<Accepted>] {
        let token: AccessToken
        do {
            token = try await tokens.token(by: min(deadline, expiry))
        } catch {
            return bodies.map { _ in .refused(SendFailure(error)) }
        }
        let begin = ContinuousClock.now
        guard begin < expiry else { return bodies.map { _ in .refused(.expired) } }
        let end = min(deadline, begin + DeliveryTimes.fcmRequestTimeout, expiry + Self.timeAfterExpiry)
        let lines = headers.isEmpty ? token.headers : token.headers + headers
        let outcomes = await transport.sendReconnecting(
            bodies.map { HTTPTransportRequest(url: url, headers: lines, body: $0, deadline: end) }, before: expiry)
        return answers(outcomes, since: begin, to: token, read: read)
    }

    // Not inlined; see RelayHandler for the reason.
    @inline(never)
    private func answers<Accepted>(
        _ outcomes: [HTTPTransportOutcome], since begin: ContinuousClock.Instant, to token: AccessToken,
        read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) -> [FCMAnswer<Accepted>] {
        let answers = outcomes.map { outcome -> FCMAnswer<Accepted> in
            switch outcome {
            case .success(let response): read(response)
            case .failure(let error): .refused(SendFailure(error, after: ContinuousClock.now - begin))
            }
        }
        if answers.contains(where: \.isTokenRefused) { tokens.invalidate(token) }
        return answers
    }
}

extension FCMAnswer {
    fileprivate var isTokenRefused: Bool {
        if case .tokenRefused = self { true } else { false }
    }
}

extension HTTPTransport {
    /// Sends requests, and repeats those that certainly have not reached the server, for a few seconds. So a short interruption
    /// of the network does not cost an urgent message the ten seconds that a failing FCM requires.
    ///
    /// - Parameter expiry: No request is repeated after this time.
    @inline(__always)
    func sendReconnecting(
        _ requests: [HTTPTransportRequest], before expiry: ContinuousClock.Instant
    ) async -> [HTTPTransportOutcome] {
        let begin = ContinuousClock.now
        let outcomes = await send(requests)
        guard outcomes.contains(where: \.hasNotReachedServer) else { return outcomes }
        let end = requests.reduce(min(expiry, begin + DeliveryTimes.fcmReconnectTimeout)) { min($0, $1.deadline) }
        return await resend(requests, after: outcomes, before: end)
    }
}
