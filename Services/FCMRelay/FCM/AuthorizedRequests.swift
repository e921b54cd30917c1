import FoundationEssentials

/// Requests to Google's APIs with the project's access token. If the token is refused, it tries once more with a new one.
struct AuthorizedRequests: Sendable {
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
        let responses = await JSONRequests(transport: transport).send(
            bodies, to: url, headers: headers.isEmpty ? token.headers : token.headers + headers, before: expiry, by: deadline)
        return answers(responses, to: token, read: read)
    }

    @inline(never)
    private func answers<Accepted>(
        _ responses: [Result<HTTPTransportResponse, SendFailure>], to token: AccessToken,
        read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) -> [FCMAnswer<Accepted>] {
        let answers = responses.map { response -> FCMAnswer<Accepted> in
            switch response {
            case .success(let response): read(response)
            case .failure(let failure): .refused(failure)
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
