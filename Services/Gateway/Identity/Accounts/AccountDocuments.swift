package import Base
package import Schemas

/// One page of the accounts. `next` is the path of the next page; the last page has none.
struct AccountPage: Codable, Sendable {
    let accounts: [Account]
    let next: String?
}

/// The parameters of `GET /account`: a page, and a filter.
struct AccountQuery: Decodable, Checked {
    private let limit: Int?
    /// The `next` of the service's previous page.
    private let after: String?
    private let role: Role?
    private let q: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after, role, q
    }

    /// Whether accounts of students may be among them.
    var isFiltered: Bool { role != nil || q != nil }

    var command: ListAccounts { ListAccounts(limit: limit ?? 50, after: after, role: role, text: q) }

    func check() throws(SchemaViolation) {
        try PeopleLimits.page.check(limit, CodingKeys.limit)
        try Role.checkKnown(role, CodingKeys.role)
        try PersonLimits.search.check(q, CodingKeys.q)
    }
}

extension AccountQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        ["properties": ["q": ["description": "The beginning of a name, in any case."]]]
    }
}

/// The body of `PUT /account/:account`. Missing fields stay as they are.
struct AccountChange: Codable, Checked, Sendable {
    let role: Role?
    let disabled: Bool?
    let secondFactorRequired: Bool?
    /// Its identifier (`sub`) at the OpenID Connect provider; empty to remove it.
    let oidc: String?
    /// What people call its person; empty to remove it.
    let displayName: String?
    /// Whether it may create classes.
    let professor: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case role, disabled, oidc, professor
        case secondFactorRequired = "second_factor_required"
        case displayName = "display_name"
    }

    func check() throws(SchemaViolation) {
        try Role.checkKnown(role, CodingKeys.role)
        try PeopleLimits.subjectOrNone.check(oidc, CodingKeys.oidc)
        try PeopleLimits.displayNameOrNone.check(displayName, CodingKeys.displayName)
    }

    func command(for account: AccountName) -> UpdateAccount {
        UpdateAccount(
            account, role: role, disabled: disabled, secondFactorRequired: secondFactorRequired, oidc: oidc,
            displayName: displayName, professor: professor)
    }
}

/// The body of `PUT /account/:account/display-name`.
struct DisplayNameChange: Codable, Checked, Sendable {
    /// Empty to remove it.
    let displayName: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case displayName = "display_name"
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.displayNameOrNone.check(displayName, CodingKeys.displayName)
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

extension AddAccount: HasExample {
    package static var example: AddAccount {
        AddAccount(account: .exampleAccount, password: .examplePassword, role: .communicator, displayName: "Ann Lee")
    }
}

extension AddAccount: SchemaAnnotated {
    /// An account signs in with a password, at the OpenID Connect provider, or both. An invitation sets the password.
    package static var schemaAnnotations: JSONValue {
        [
            "anyOf": [
                ["required": ["password"]], ["required": ["oidc"]],
                ["properties": ["invite": ["const": true]], "required": ["invite"]],
            ]
        ]
    }
}

extension AccountChange: HasExample {
    static var example: AccountChange {
        AccountChange(
            role: .communicator, disabled: false, secondFactorRequired: true, oidc: nil, displayName: "Ann Lee",
            professor: false)
    }
}

extension DisplayNameChange: HasExample {
    static var example: DisplayNameChange { DisplayNameChange(displayName: "Ann Lee") }
}

extension ReadDisplayNames.Reply: HasExample {
    package static var example: ReadDisplayNames.Reply { ReadDisplayNames.Reply(displayNames: ["ann": "Ann Lee"]) }
}

extension PasswordChange: HasExample {
    static var example: PasswordChange {
        PasswordChange(password: Secret("violet-anchor-meadow"), currentPassword: .examplePassword)
    }
}

extension Secret {
    static var examplePassword: Secret { Secret("copper-lantern-orchard") }
    static var exampleInvitation: Secret { Secret("ann.pH2cXoY9m3kqv0sT7wZ1bN4dF6gJ8hL5rE2uC9aVxQM") }
}

extension AccountName {
    static var exampleAccount: AccountName {
        guard let name = AccountName("ann") else { preconditionFailure("ann is an account's name") }
        return name
    }
}
