import Crypto
import FoundationEssentials
import Schemas
import Time

/// A sign-in at the provider that has begun. The browser keeps it, sealed, so that the service keeps nothing for it.
struct OpenIDFlow: SealedText, Hashable {
    static let kind = "flow"
    static let lifetime = Milliseconds.seconds(600)

    /// Binds the provider's answer to this browser.
    let state: String
    /// Binds the ID token to this sign-in.
    let nonce: String
    /// PKCE (RFC 7636): binds the code to this service.
    let verifier: String
    let redirect: String
    /// The sign-in that it confirms; `nil` for a first one.
    let confirms: CredentialHash?
    let made: UnixMilliseconds

    init(redirect: String, confirms: CredentialHash?, now: UnixMilliseconds) {
        state = Secret.newSignIn().text
        nonce = Secret.newSignIn().text
        verifier = Secret.newSignIn().text
        self.redirect = redirect
        self.confirms = confirms
        made = now
    }

    /// PKCE's `code_challenge`, method S256.
    var challenge: String { Data(SHA256.hash(data: Data(verifier.utf8))).base64URL }
}
