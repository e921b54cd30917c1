import Base
import Schemas

/// What the ID tokens of a provider must be.
struct IDTokenRules: Sendable {
    /// The valid `aud` and `azp`.
    enum Audience: Sendable {
        /// `aud` is one text, one of these. So is `azp`, if it is there and counts.
        case text(Set<ExactText>, partyCounts: Bool)
        /// `aud` contains this one. If there are others, `azp` is this one.
        case containing(ExactText)
        /// All of `aud` are among these. If they are several, `azp` is one of these too.
        case among(Set<ExactText>)
    }

    enum Nonce: Sendable {
        case exactly(String)
        /// There may be none.
        case atMost(String)
        case any
    }

    /// Those of ``IDToken/algorithms``, or fewer.
    let algorithms: Set<String>
    let issuers: Set<ExactText>
    let audience: Audience
    let nonce: Nonce
    /// How long ago it may have been issued; `nil` as long as it is valid.
    let maxAge: Milliseconds?
    /// The time since which the provider must have asked for the password; `nil` if it need not.
    var confirmedAfter: UnixMilliseconds?
    /// Its length. What comes from the provider itself may be longer than what anyone may send.
    var maxBytes = PersonLimits.providerToken.max
}

extension IDTokenRules {
    /// - Parameter clients: The client identifiers of this installation.
    static func google(clients: [String], device: String) -> IDTokenRules {
        IDTokenRules(
            algorithms: ["RS256"], issuers: [ExactText("https://accounts.google.com"), ExactText("accounts.google.com")],
            audience: .text(Set(clients.map(ExactText.init)), partyCounts: true), nonce: .atMost(device),
            maxAge: PersonLimits.maxTokenAge)
    }

    static func firebase(project: String) -> IDTokenRules {
        IDTokenRules(
            algorithms: ["RS256"], issuers: [ExactText("https://securetoken.google.com/" + project)],
            audience: .text([ExactText(project)], partyCounts: false), nonce: .any, maxAge: nil)
    }

    /// Of the university's provider, for an app that has got the token by itself.
    ///
    /// - Parameter clients: The client identifiers of this installation and of its native apps.
    static func university(issuer: String, clients: [String], device: String) -> IDTokenRules {
        IDTokenRules(
            algorithms: IDToken.algorithms, issuers: [ExactText(issuer)],
            audience: .among(Set(clients.map(ExactText.init))), nonce: .atMost(device), maxAge: PersonLimits.maxTokenAge)
    }

    /// Of the university's provider, which has answered to the code of a flow.
    static func flow(_ flow: OpenIDFlow, issuer: String, clientID: String) -> IDTokenRules {
        IDTokenRules(
            algorithms: IDToken.algorithms, issuers: [ExactText(issuer)], audience: .containing(ExactText(clientID)),
            nonce: .exactly(flow.nonce), maxAge: PersonLimits.maxTokenAge,
            confirmedAfter: flow.confirms == nil ? nil : flow.made, maxBytes: 1 << 20)
    }
}
