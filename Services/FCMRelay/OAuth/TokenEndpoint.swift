import FoundationEssentials
import HTTPTransport
import Base
import JWTKit
import Schemas
import ServiceKit

/// A source of access tokens.
protocol TokenGranter: Sendable {
    /// Gets a new access token.
    func grant() async throws(TokenFailure) -> GrantedToken
}

/// Google's token endpoint, or the emulator's.
struct TokenEndpoint: TokenGranter {
    let account: ServiceAccount
    let transport: any HTTPTransport
    /// The wall clock, which the endpoint compares with its own.
    let now: @Sendable () -> UnixMilliseconds

    func grant() async throws(TokenFailure) -> GrantedToken {
        let assertion: String
        do {
            assertion = try await TokenAssertion(of: account, now: now()).signed(by: account)
        } catch {
            throw TokenFailure("the service account's key cannot sign")
        }
        let deadline = ContinuousClock.now + DeliveryTimes.fcmRequestTimeout
        let response: HTTPTransportResponse
        do {
            // A signed token contains no character that needs escaping in a form.
            let request = HTTPTransportRequest(
                url: account.tokenURI, headers: ["content-type: application/x-www-form-urlencoded"],
                body: Data("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8),
                deadline: deadline)
            response = try await transport.sendReconnecting([request], before: deadline)[0].get()
        } catch {
            throw TokenFailure("the token endpoint gave no answer: \(error.code.rawValue): \(error)")
        }
        return try Self.read(response)
    }

    /// Reads the endpoint's answer.
    static func read(_ response: HTTPTransportResponse) throws(TokenFailure) -> GrantedToken {
        guard response.status == 200 else {
            let problem = try? JSONCoder.decode(Problem.self, from: response.body)
            let words = [problem?.error, problem?.errorDescription].compactMap(\.self).joined(separator: ": ")
            throw TokenFailure("the token endpoint answered \(response.status)\(words.isEmpty ? "" : " \(words)")")
        }
        guard let grant = try? JSONCoder.decode(Grant.self, from: response.body), grant.tokenType.lowercased() == "bearer",
            grant.expiresIn > 0, !grant.accessToken.isEmpty,
            // The token becomes part of a header line.
            grant.accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw TokenFailure("the token endpoint answered 200 without a bearer token and its lifetime")
        }
        let lifetime = Duration(min(grant.expiresIn, 86_400))
        return GrantedToken(token: AccessToken(value: grant.accessToken), lifetime: lifetime)
    }

    private struct Grant: Decodable {
        let accessToken: String
        let expiresIn: Seconds
        let tokenType: String

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case expiresIn = "expires_in"
            case tokenType = "token_type"
        }
    }

    private struct Problem: Decodable {
        let error: String?
        let errorDescription: String?

        private enum CodingKeys: String, CodingKey {
            case error
            case errorDescription = "error_description"
        }
    }
}

/// The claims that a service account signs to get an access token (RFC 7523 with Google's rules).
struct TokenAssertion: JWTPayload, Equatable {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// Google's maximum.
    static let lifetime: Seconds = 3_600

    let iss: String
    let scope: String
    let aud: String
    /// Unix seconds.
    let iat: Int64
    /// Unix seconds.
    let exp: Int64

    init(of account: ServiceAccount, now: UnixMilliseconds) {
        iss = account.clientEmail
        scope = Self.scope
        aud = account.tokenURI
        iat = now.seconds
        exp = iat + Self.lifetime.rawValue
    }

    /// Required by `JWTPayload`. The token endpoint verifies the claims.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// The signed token: RS256, with the key's id in its header.
    func signed(by account: ServiceAccount) async throws -> String {
        let keys = JWTKeyCollection()
        let id = JWKIdentifier(string: account.privateKeyID)
        await keys.add(rsa: account.privateKey, digestAlgorithm: .sha256, kid: id)
        return try await keys.sign(self, kid: id)
    }
}
