import JSON
import Schemas

/// One page of the accounts. `next` is the path of the next page; the last page has none.
struct AccountPage: Codable, Sendable {
    let accounts: [Account]
    let next: String?
}

/// The body of `PUT /account/:account`. Missing fields stay as they are.
struct AccountChange: Codable, Checked, Sendable {
    let role: Role?
    let disabled: Bool?
    let secondFactorRequired: Bool?
    /// Its identifier (`sub`) at the OpenID Connect provider; empty to remove it.
    let oidc: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case role, disabled, oidc
        case secondFactorRequired = "second_factor_required"
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.subjectOrNone.check(oidc, CodingKeys.oidc)
    }

    func command(for account: AccountName) -> UpdateAccount {
        UpdateAccount(
            account, role: role, disabled: disabled, secondFactorRequired: secondFactorRequired, oidc: oidc)
    }
}

/// The body of `PUT /account/:account/password`.
struct PasswordChange: Codable, Checked, Sendable {
    let password: Secret
    /// Required for one's own password.
    let currentPassword: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case password
        case currentPassword = "current_password"
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.checkGiven(currentPassword, CodingKeys.currentPassword)
    }
}
