import Hummingbird
import Base
import JWTKit

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

/// `POST /token`: Google's OAuth 2.0 token endpoint.
struct TokenRoute: Sendable {
    private static let maxBodyBytes = 16_384

    let issuer: TokenIssuer
    let rules: Adjustable<OAuthRules>
    let faults: FaultInjector

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource("token", [.post: { request, _ in try await answer(request) }])
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = try await request.bytes(max: Self.maxBodyBytes)
        let response = try await faults.perform(.token, .none) {
            do {
                return Response(.ok, try await issuer.issue(for: try Self.form(body), by: rules.withLock { $0 }))
            } catch let error as OAuthError {
                return Response(.badRequest, error.document)
            }
        }
        return response ?? .unanswerable
    }

    private static func form(_ body: [UInt8]) throws -> TokenIssuer.Form {
        guard let text = String(validating: body, as: UTF8.self),
            let form = try? URLEncodedFormDecoder().decode(TokenIssuer.Form.self, from: text)
        else { throw OAuthError.invalidRequest("The body is not a form (application/x-www-form-urlencoded)") }
        return form
    }
}

/// The refusal of a token request (RFC 6749, section 5.2), always with HTTP status 400.
struct OAuthError: Error, Hashable {
    let code: String
    let description: String

    init(_ code: String, _ description: String) {
        self.code = code
        self.description = description
    }

    static func invalidGrant(_ description: String) -> OAuthError {
        OAuthError("invalid_grant", description)
    }

    /// A request whose times do not fit Google's clock.
    static let skewedClock = invalidGrant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")

    static func invalidRequest(_ description: String) -> OAuthError {
        OAuthError("invalid_request", description)
    }

    var document: JSONValue {
        ["error": .string(code), "error_description": .string(description)]
    }
}
