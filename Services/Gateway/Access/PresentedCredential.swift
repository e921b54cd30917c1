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
        } else if let cookie = GatewayCookie.session.value(in: request, isSecure: isSecure) {
            self.init(.cookie, Secret(cookie))
        } else {
            return nil
        }
    }

    init(_ kind: Kind, _ secret: Secret) {
        self.kind = kind
        hash = CredentialHash(digest: SHA256.hash(data: Data(secret.text.utf8)))
    }
}
