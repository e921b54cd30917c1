import JSON
import Schemas

/// The body of `POST /session`.
struct SignInDraft: Codable, Checked, Sendable {
    /// Any text: an invalid name is only a wrong one.
    let account: String
    let password: Secret
    /// A code of the authenticator app, or a recovery code.
    let code: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password, code
    }

    func check() throws(SchemaViolation) {
        try TextLimits.sender.check(account, CodingKeys.account)
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

/// The body of `PUT /session`: the password to confirm. For a sign-in at the provider that still lacks its code, the code alone.
struct ConfirmationDraft: Codable, Checked, Sendable {
    let password: Secret?
    /// A code of the authenticator app, or a recovery code.
    let code: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case password, code
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}
