import Base

/// Who confirms the identity of a person.
package enum IdentityProvider: String, ClosedEnum {
    /// The university's OpenID Connect provider.
    case university
    case google
    /// Firebase Authentication.
    case firebase
    case facebook
    /// The hub itself, by account name and password.
    case password
}

/// A person as they see their own account: the answer of `GET /user`.
package struct Person: Codable, Hashable, Sendable {
    package let account: AccountName
    package let displayName: String?
    package let role: Role
    /// `true` if the person may create classes; absent otherwise.
    package let professor: Bool?
    package let created: UnixMilliseconds
    /// The ways in which the person can sign in.
    package let identities: [LinkedIdentity]

    package init(
        account: AccountName, displayName: String?, role: Role, professor: Bool?, created: UnixMilliseconds,
        identities: [LinkedIdentity]
    ) {
        self.account = account
        self.displayName = displayName
        self.role = role
        self.professor = professor
        self.created = created
        self.identities = identities
    }

    private enum CodingKeys: String, CodingKey {
        case account, role, professor, created, identities
        case displayName = "display_name"
    }
}

/// A way in which a person can sign in.
package struct LinkedIdentity: Codable, Hashable, Sendable {
    package let provider: IdentityProvider
    /// The address that the provider knows; absent if it tells none.
    package let email: String?
    package let linked: UnixMilliseconds

    package init(provider: IdentityProvider, email: String?, linked: UnixMilliseconds) {
        self.provider = provider
        self.email = email
        self.linked = linked
    }
}

/// A way to sign in that a page offers.
package struct OfferedProvider: Codable, Hashable, Sendable {
    package enum Flow: String, ClosedEnum {
        /// The browser goes to ``OfferedProvider/url`` and comes back with a token in the fragment.
        case fragment
        /// The gateway begins the sign-in, and the browser comes back with a code.
        case code
        /// A form for account name and password.
        case form
    }

    package let provider: IdentityProvider
    package let flow: Flow
    /// With the flow `fragment`: the provider's page with its query, to which the app adds `redirect_uri`, `state` and `nonce`.
    package let url: String?
    /// The field of a credential that has the token of the fragment, under the same name: `id_token` or `access_token`.
    package let token: String?
    /// Whether a person without an account can register this way.
    package let registers: Bool
    /// Whether that needs an access code.
    package let needsCode: Bool

    package init(
        provider: IdentityProvider, flow: Flow, url: String? = nil, token: String? = nil, registers: Bool, needsCode: Bool
    ) {
        self.provider = provider
        self.flow = flow
        self.url = url
        self.token = token
        self.registers = registers
        self.needsCode = needsCode
    }

    private enum CodingKeys: String, CodingKey {
        case provider, flow, url, token, registers
        case needsCode = "needs_code"
    }
}
