import FoundationEssentials
import Logging
import Schemas

/// FCM's HTTP v1 API.
struct HTTPv1Sender: FCMSender {
    /// Google asks for no less than ten seconds.
    private static let requestTimeout = Duration.seconds(10)
    /// For how long a request that was made before its message expired may be answered after that. It may have to wait for a
    /// connection first: a message is never later at FCM than this.
    private static let timeAfterExpiry = Duration.seconds(1)

    private let url: String
    private let transport: any HTTPTransport
    private let tokens: AccessTokenSource
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://` and a host, and a port perhaps.
    ///   - project: The Firebase project's id.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(
        endpoint: String, project: String, transport: any HTTPTransport, tokens: AccessTokenSource,
        now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        url = "\(endpoint)/v1/projects/\(project)/messages:send"
        self.transport = transport
        self.tokens = tokens
        self.now = now
    }

    func send(
        _ message: FCMMessage, before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant
    ) async -> Result<String, ComponentError> {
        do throws(ComponentError) {
            let body = try Self.body(of: message)
            switch try await attempt(body, before: expiry, by: deadline) {
            case .accepted(let name): return .success(name)
            case .refused(let error): return .failure(error)
            case .tokenRefused: break
            }
            // Once more with a new token.
            switch try await attempt(body, before: expiry, by: deadline) {
            case .accepted(let name): return .success(name)
            case .refused(let error), .tokenRefused(let error): return .failure(error)
            }
        } catch {
            return .failure(error)
        }
    }

    private func attempt(
        _ body: Data, before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant
    ) async throws(ComponentError) -> FCMAnswer {
        let token: AccessToken
        do {
            token = try await tokens.token(by: min(deadline, expiry))
        } catch {
            throw ComponentError(error)
        }
        guard .now < expiry else { throw .expired }
        let response: HTTPTransportResponse
        do {
            response = try await transport.reach(
                HTTPTransportRequest(
                    url: url, headers: ["content-type: application/json", "authorization: Bearer \(token.value)"],
                    body: body, deadline: min(deadline, .now + Self.requestTimeout, expiry + Self.timeAfterExpiry)),
                before: expiry)
        } catch {
            throw ComponentError(error)
        }
        let answer = FCMAnswer.classify(response, now: now())
        if case .tokenRefused = answer { tokens.invalidate(token) }
        return answer
    }

    /// `{"message":{…}}`.
    private static func body(of message: FCMMessage) throws(ComponentError) -> Data {
        do {
            return try SchemaJSON.encode(["message": message])
        } catch {
            throw ComponentError(class: .permanent, code: "INVALID_MESSAGE", message: "the message cannot be written as JSON")
        }
    }
}
