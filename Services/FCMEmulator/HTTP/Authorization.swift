import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base
import Schemas

/// Checks the credentials of requests to Google's endpoints.
struct Authorization: Sendable {
    /// The bearer token that Firebase's own emulators accept as an administrator's.
    private static let administrator = "owner"

    let tokens: AccessTokens
    let rules: Adjustable<OAuthRules>

    /// Checks a request's access token.
    ///
    /// - Throws: ``GoogleError`` with status 401, or 403 for a token without FCM's scope.
    func check(_ request: Request) throws {
        let token = try Self.token(of: request)
        guard token != Self.administrator else { return }
        switch tokens.check(String(token), now: rules.withLock { $0 }.now()) {
        case .valid: return
        case .expired: throw GoogleError.unauthenticated(.tokenExpired)
        case .unknown: throw GoogleError.unauthenticated(.tokenTypeUnsupported)
        case .ofAnotherScope: throw GoogleError.scopeInsufficient
        }
    }

    /// Checks a request to the Instance ID service. Without the header `access_token_auth` it takes the credential for a server
    /// key, a kind of credential that Google has ended.
    ///
    /// - Throws: ``GoogleError`` with status 401 or 403.
    func checkInstanceID(_ request: Request) throws {
        let isAccessToken = request.headers.first { $0.name.canonicalName == "access_token_auth" }?.value.lowercased() == "true"
        guard isAccessToken else { throw GoogleError.accessTokenHeaderMissing }
        try check(request)
    }

    private static func token(of request: Request) throws -> Substring {
        guard let header = request.headers[.authorization], !header.isEmpty else {
            throw GoogleError.unauthenticated(.credentialsMissing)
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw GoogleError.unauthenticated(.tokenTypeUnsupported)
        }
        return parts[1]
    }
}

extension GoogleError {
    /// Why a request's credentials are refused.
    enum CredentialProblem: String {
        case credentialsMissing = "CREDENTIALS_MISSING"
        case tokenExpired = "ACCESS_TOKEN_EXPIRED"
        case tokenTypeUnsupported = "ACCESS_TOKEN_TYPE_UNSUPPORTED"
    }

    /// A valid token with scopes of other APIs only.
    static let scopeInsufficient = GoogleError(
        httpStatus: .forbidden, status: "PERMISSION_DENIED", message: "Request had insufficient authentication scopes.",
        details: [errorInfo("ACCESS_TOKEN_SCOPE_INSUFFICIENT")],
        headers: [
            .wwwAuthenticate: "Bearer realm=\"https://accounts.google.com/\", error=\"insufficient_scope\", "
                + "scope=\"https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/firebase.messaging\""
        ])

    /// An access token at the Instance ID service without the header `access_token_auth: true`. The wording is ours.
    static let accessTokenHeaderMissing = GoogleError(
        httpStatus: .unauthorized, status: "UNAUTHENTICATED",
        message: "Unauthorized: an OAuth 2 access token needs the header access_token_auth: true.")

    static func unauthenticated(_ problem: CredentialProblem) -> GoogleError {
        let start =
            switch problem {
            case .credentialsMissing: "Request is missing required authentication credential."
            case .tokenExpired, .tokenTypeUnsupported: "Request had invalid authentication credentials."
            }
        return GoogleError(
            httpStatus: .unauthorized, status: "UNAUTHENTICATED",
            message: "\(start) Expected OAuth 2 access token, login cookie or other valid authentication credential. "
                + "See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            details: [errorInfo(problem.rawValue)],
            headers: [.wwwAuthenticate: "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\""])
    }

    private static func errorInfo(_ reason: String) -> JSONValue {
        [
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason),
            "domain": "googleapis.com",
            "metadata": ["service": "fcm.googleapis.com", "method": "google.firebase.fcm.v1.FcmService.SendMessage"],
        ]
    }

    /// A project that the account has no access to.
    static func permissionDenied(project: String) -> GoogleError {
        let resource = "//cloudresourcemanager.googleapis.com/projects/\(project.prefix(100))"
        return GoogleError(
            httpStatus: .forbidden, status: "PERMISSION_DENIED",
            message: "Permission 'cloudmessaging.messages.create' denied on resource '\(resource)' (or it may not exist).",
            details: [
                [
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED",
                    "domain": "cloudresourcemanager.googleapis.com",
                    "metadata": ["resource": .string(resource), "permission": "cloudmessaging.messages.create"],
                ]
            ])
    }
}

extension UnixMilliseconds {
    static func now() -> UnixMilliseconds { Date().unixMilliseconds }
}
