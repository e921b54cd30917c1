/// An account, without its secrets.
package struct Account: Codable, Hashable, Sendable {
    package let account: AccountName
    package let role: Role
    /// Whether it can neither sign in nor use its tokens.
    package let disabled: Bool
    package let secondFactor: SecondFactor
    /// Whether a super user requires a second factor of this account.
    package let secondFactorRequired: Bool
    /// Whether it can sign in with a password.
    package let hasPassword: Bool
    /// Its identifier (`sub`) at the OpenID Connect provider; `nil` if it does not sign in there.
    package let oidc: String?
    package let created: UnixMilliseconds

    package init(
        account: AccountName, role: Role, disabled: Bool, secondFactor: SecondFactor, secondFactorRequired: Bool,
        hasPassword: Bool, oidc: String?, created: UnixMilliseconds
    ) {
        self.account = account
        self.role = role
        self.disabled = disabled
        self.secondFactor = secondFactor
        self.secondFactorRequired = secondFactorRequired
        self.hasPassword = hasPassword
        self.oidc = oidc
        self.created = created
    }

    private enum CodingKeys: String, CodingKey {
        case account, role, disabled, oidc, created
        case secondFactor = "second_factor"
        case secondFactorRequired = "second_factor_required"
        case hasPassword = "has_password"
    }
}
