import Crypto
import FoundationEssentials
import Schemas
import Base

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

/// The flows that have come back, so that each is valid once. Pure.
struct UsedFlows: Sendable {
    /// The maximum number that is remembered. The provider's codes are valid once as well.
    private static let maxFlows = 20_000

    private var ends: [String: UnixMilliseconds] = [:]

    /// - Returns: Whether this is the flow's first use.
    mutating func use(_ flow: OpenIDFlow, now: UnixMilliseconds) -> Bool {
        guard ends[flow.state] == nil else { return false }
        if ends.count >= Self.maxFlows { makeRoom(now: now) }
        ends[flow.state] = flow.made + OpenIDFlow.lifetime
        return true
    }

    /// Forgets the flows that have ended, and if they are few, the older half.
    private mutating func makeRoom(now: UnixMilliseconds) {
        ends = ends.filter { $0.value > now }
        guard ends.count > Self.maxFlows / 2 else { return }
        let middle = ends.values.sorted()[ends.count / 2]
        ends = ends.filter { $0.value > middle }
    }
}
