import JSON
import JWTKit
import Time

/// Google's token endpoint: issues an access token for a request that is signed with the service account's key.
struct TokenIssuer: Sendable {
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    private let account: ServiceAccount
    private let tokens: AccessTokens
    private let keys: JWTKeyCollection

    init(account: ServiceAccount, tokens: AccessTokens) async throws {
        self.account = account
        self.tokens = tokens
        keys = JWTKeyCollection()
        await keys.add(rsa: try Insecure.RSA.PublicKey(backing: account.publicKey), digestAlgorithm: .sha256)
    }

    /// A token request's form fields.
    struct Form: Decodable {
        let grantType: String?
        let assertion: String?

        private enum CodingKeys: String, CodingKey {
            case grantType = "grant_type"
            case assertion
        }
    }

    /// Answers a token request.
    ///
    /// - Throws: ``OAuthError``, and nothing else.
    func issue(for form: Form, by clock: OAuthRules) async throws -> JSONValue {
        guard let grantType = form.grantType else {
            throw OAuthError.invalidRequest("Required parameter is missing: grant_type")
        }
        guard grantType == Self.grantType else {
            throw OAuthError("unsupported_grant_type", "Invalid grant_type: \(grantType.prefix(100))")
        }
        guard let signed = form.assertion, !signed.isEmpty else {
            throw OAuthError.invalidRequest("Required parameter is missing: assertion")
        }
        let assertion = try await verified(signed)
        let rules = AssertionRules(issuer: account.clientEmail, audience: account.tokenURI)
        let now = clock.now()
        if let violation = rules.violation(by: assertion, now: now) { throw violation }
        return [
            "access_token": .string(
                tokens.issue(now: now, life: clock.tokenLife, isForMessaging: assertion.isForMessaging)),
            "expires_in": .integer(clock.tokenLife.rawValue),
            "token_type": "Bearer",
        ]
    }

    private func verified(_ signed: String) async throws -> Assertion {
        do {
            return try await keys.verify(signed, as: Assertion.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw OAuthError.invalidGrant("Invalid JWT Signature.")
        } catch {
            throw OAuthError.invalidGrant("Invalid JWT: the assertion is not a signed JSON web token with the claims of one.")
        }
    }
}
