import FoundationEssentials
import HTTPTypes
import Hummingbird
import Schemas

/// Who may call the endpoints that are Google's.
struct Authorization: Sendable {
    /// What Firebase's own emulators take for an administrator.
    private static let administrator = "owner"

    let tokens: AccessTokens
    let rules: Adjustable<OAuthRules>

    /// Checks a request's access token.
    ///
    /// - Throws: ``GoogleError`` with status 401.
    func check(_ request: Request) throws {
        guard let header = request.headers[.authorization], !header.isEmpty else {
            throw GoogleError.unauthenticated(.credentialsMissing)
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw GoogleError.unauthenticated(.tokenTypeUnsupported)
        }
        guard parts[1] != Self.administrator else { return }
        switch tokens.check(String(parts[1]), now: rules.withLock { $0 }.now()) {
        case .valid: return
        case .expired: throw GoogleError.unauthenticated(.tokenExpired)
        case .unknown: throw GoogleError.unauthenticated(.tokenTypeUnsupported)
        }
    }
}

extension GoogleError {
    /// Why a request's credentials are refused.
    enum CredentialProblem: String {
        case credentialsMissing = "CREDENTIALS_MISSING"
        case tokenExpired = "ACCESS_TOKEN_EXPIRED"
        case tokenTypeUnsupported = "ACCESS_TOKEN_TYPE_UNSUPPORTED"
    }

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
            details: [
                [
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(problem.rawValue),
                    "domain": "googleapis.com",
                    "metadata": [
                        "service": "fcm.googleapis.com", "method": "google.firebase.fcm.v1.FcmService.SendMessage",
                    ],
                ]
            ],
            headers: [.wwwAuthenticate: "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\""])
    }

    /// A project that the account has nothing to do with.
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
