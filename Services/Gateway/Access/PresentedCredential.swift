import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Schemas

/// The credential that a request carries. Only its hash is kept.
struct PresentedCredential: Hashable, Sendable {
    enum Kind: Sendable {
        case cookie
        case token
    }

    /// The name of the cookie. Browsers accept the prefix `__Host-` only over TLS and from the host itself, so that no page of a
    /// neighbouring host can plant a cookie.
    static func cookieName(isSecure: Bool) -> String { isSecure ? "__Host-msi_session" : "msi_session" }

    let kind: Kind
    let hash: CredentialHash

    /// A bearer token takes precedence over a cookie.
    ///
    /// - Parameter isSecure: Whether the client's connection is encrypted.
    /// - Returns: `nil` if the request has none.
    /// - Throws: ``Problem`` if `Authorization` is not a bearer token.
    init?(of request: Request, isSecure: Bool) throws(Problem) {
        if let authorization = request.headers[.authorization] {
            let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else {
                throw Problem(.unauthenticated, "Authorization: expected one bearer token", field: "Authorization")
            }
            self.init(.token, Secret(String(parts[1])))
        } else if let cookie = request.cookies[Self.cookieName(isSecure: isSecure)], !cookie.value.isEmpty {
            self.init(.cookie, Secret(cookie.value))
        } else {
            return nil
        }
    }

    init(_ kind: Kind, _ secret: Secret) {
        self.kind = kind
        hash = CredentialHash(digest: SHA256.hash(data: Data(secret.text.utf8)))
    }
}
