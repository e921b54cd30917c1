package import Base

/// `sign_in.ways`: how people can sign in besides with a password.
package struct ReadSignInMethods: Command {
    package static let name = "sign_in.ways"

    package struct Reply: Codable, Hashable, Sendable {
        /// Whether an OpenID Connect provider is set up.
        package let provider: Bool

        package init(provider: Bool) {
            self.provider = provider
        }
    }

    package init() {}
}

/// `sign_in.oidc.begin`: begins a sign-in at the university's OpenID Connect provider. If none is set up, the answer is `not_found`.
package struct BeginOpenIDSignIn: Command, Checked {
    package static let name = "sign_in.oidc.begin"

    package struct Reply: Codable, Hashable, Sendable {
        /// The provider's page, to which the browser is sent.
        package let url: String
        /// Sealed; the browser keeps it in a cookie until it comes back, for ten minutes at most.
        package let flow: Secret

        package init(url: String, flow: Secret) {
            self.url = url
            self.flow = flow
        }
    }

    /// The gateway's address to which the provider sends the browser back.
    package let redirect: String
    /// A sign-in to confirm: the provider asks for the password even if the person is signed in there. If it is the same person, the
    /// new sign-in is confirmed, and takes the place of this one.
    package let confirms: CredentialHash?

    package init(redirect: String, confirms: CredentialHash? = nil) {
        self.redirect = redirect
        self.confirms = confirms
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case redirect, confirms
    }

    package func check() throws(SchemaViolation) {
        try TextLimits(max: 2_000).check(redirect, CodingKeys.redirect)
    }
}

/// `sign_in.oidc.finish`: the browser has come back with a code. What does not fit together is `unauthenticated`; an account
/// without a role is `forbidden`. A flow is valid once.
package struct FinishOpenIDSignIn: Command, Checked {
    package static let name = "sign_in.oidc.finish"

    /// Either a sign-in, or a new account whose name the gateway has to check.
    package struct Reply: Codable, Hashable, Sendable {
        package let signedIn: SignedIn?
        package let newAccount: NewAccount?

        package static func signedIn(_ signedIn: SignedIn) -> Reply { Reply(signedIn: signedIn, newAccount: nil) }

        package static func newAccount(_ account: AccountName, ticket: Secret) -> Reply {
            Reply(signedIn: nil, newAccount: NewAccount(account: account, ticket: ticket))
        }

        private enum CodingKeys: String, CodingKey {
            case signedIn = "signed_in"
            case newAccount = "new_account"
        }
    }

    /// A person without an account.
    package struct NewAccount: Codable, Hashable, Sendable {
        /// The name that the account would have.
        package let account: AccountName
        /// For ``AcceptOpenIDAccount``.
        package let ticket: Secret
    }

    /// From the cookie.
    package let flow: Secret
    /// The query parameter `state`.
    package let state: Secret
    /// The query parameter `code`.
    package let code: Secret
    /// The query parameter `iss` (RFC 9207), if the provider sends it.
    package let issuer: String?
    /// The client's network address.
    package let address: String

    package init(flow: Secret, state: Secret, code: Secret, issuer: String? = nil, address: String) {
        self.flow = flow
        self.state = state
        self.code = code
        self.issuer = issuer
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case flow, state, code, address
        case issuer = "iss"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits(max: 8_000).check(flow.text, CodingKeys.flow)
        try TextLimits(max: 1_000).check(state.text, CodingKeys.state)
        try TextLimits(max: 4_000).check(code.text, CodingKeys.code)
        try TextLimits(max: 2_000).check(issuer, CodingKeys.issuer)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `sign_in.oidc.accept`: adds the account of ``FinishOpenIDSignIn/NewAccount``, and signs in. Send it only if no access list of the
/// cube names the account: who chooses a name at the provider must not get the rights of others.
package struct AcceptOpenIDAccount: Command, Checked {
    package static let name = "sign_in.oidc.accept"
    package typealias Reply = SignedIn

    /// Valid for a minute.
    package let ticket: Secret
    /// The client's network address.
    package let address: String

    package init(ticket: Secret, address: String) {
        self.ticket = ticket
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case ticket, address
    }

    package func check() throws(SchemaViolation) {
        try TextLimits(max: 8_000).check(ticket.text, CodingKeys.ticket)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}
