import FoundationEssentials

/// POSTs to Google's APIs with the project's access token; where that is refused, once more with a new one.
struct AuthorizedPost: Sendable {
    let transport: any HTTPTransport
    let tokens: AccessTokenSource

    /// - Parameters:
    ///   - headers: Beside the content's type and the token.
    ///   - expiry: Nothing is sent from then on.
    ///   - deadline: When to give up.
    ///   - read: What an answer means.
    func post<Accepted>(
        _ body: Data, to url: String, headers: [String] = [], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) async -> Result<Accepted, SendFailure> {
        do throws(SendFailure) {
            var answer = try await attempt(body, url, headers, before: expiry, by: deadline, read: read)
            if case .tokenRefused = answer {
                answer = try await attempt(body, url, headers, before: expiry, by: deadline, read: read)
            }
            switch answer {
            case .accepted(let value): return .success(value)
            case .refused(let failure), .tokenRefused(let failure): return .failure(failure)
            }
        } catch {
            return .failure(error)
        }
    }

    @inline(__always)
    private func attempt<Accepted>(
        _ body: Data, _ url: String, _ headers: [String], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, read: (HTTPTransportResponse) -> FCMAnswer<Accepted>
    ) async throws(SendFailure) -> FCMAnswer<Accepted> {
        let token: AccessToken
        do {
            token = try await tokens.token(by: min(deadline, expiry))
        } catch {
            throw SendFailure(error)
        }
        let response = try await PatientPost(transport: transport).post(
            body, to: url, headers: ["authorization: Bearer \(token.value)"] + headers, before: expiry, by: deadline)
        let answer = read(response)
        if case .tokenRefused = answer { tokens.invalidate(token) }
        return answer
    }
}
