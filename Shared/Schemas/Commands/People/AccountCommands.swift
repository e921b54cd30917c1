package import Base

/// `people.setup`: creates the first account, a super user, with the operator's token. Fails with `conflict` if there are accounts.
package struct SetUpPeople: Command, Checked {
    package static let name = "people.setup"
    package typealias Reply = Done

    package let account: AccountName
    package let password: Secret
    /// The hash of the operator's token.
    package let tokenHash: CredentialHash

    package init(account: AccountName, password: Secret, tokenHash: CredentialHash) {
        self.account = account
        self.password = password
        self.tokenHash = tokenHash
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password
        case tokenHash = "token_hash"
    }

    package func check() throws(SchemaViolation) {
        try account.checkNew(CodingKeys.account)
        try PeopleLimits.checkNew(password, CodingKeys.password)
    }
}

/// `people.operator`: replaces the operator's token by a new one, with all rights of a super user's account. The old one ends.
package struct ReplaceOperatorToken: Command {
    package static let name = "people.operator"
    package typealias Reply = Done

    /// A super user.
    package let account: AccountName
    package let tokenHash: CredentialHash

    package init(account: AccountName, tokenHash: CredentialHash) {
        self.account = account
        self.tokenHash = tokenHash
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
        case tokenHash = "token_hash"
    }
}

/// `account.add`: a new account. It needs a password, an invitation, or an identifier at the OpenID Connect provider.
package struct AddAccount: Command, Checked {
    package static let name = "account.add"
    package typealias Reply = Account

    package let account: AccountName
    package let password: Secret?
    package let role: Role
    /// Its identifier (`sub`) at the OpenID Connect provider.
    package let oidc: String?
    /// What people call its person.
    package let displayName: String?
    /// Whether it is invited at once; see ``InviteAccount``. A student sets no password by a link.
    package let invite: Bool?
    /// Whether it may create classes.
    package let professor: Bool?

    package init(
        account: AccountName, password: Secret?, role: Role, oidc: String? = nil, displayName: String? = nil,
        invite: Bool? = nil, professor: Bool? = nil
    ) {
        self.account = account
        self.password = password
        self.role = role
        self.oidc = oidc
        self.displayName = displayName
        self.invite = invite
        self.professor = professor
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password, role, oidc, invite, professor
        case displayName = "display_name"
    }

    package func check() throws(SchemaViolation) {
        try account.checkNew(CodingKeys.account)
        try Role.checkKnown(role, CodingKeys.role)
        if role == .student, invite == true {
            throw SchemaViolation(CodingKeys.invite, "expected none: a student signs in on devices, not by a link")
        }
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.subject.check(oidc, CodingKeys.oidc)
        try PeopleLimits.displayName.check(displayName, CodingKeys.displayName)
        if password == nil, oidc == nil, invite != true {
            throw SchemaViolation(CodingKeys.password, "missing: an account needs a password, \"invite\", or \"oidc\"")
        }
    }
}

/// `account.list`: one page of the accounts, in the order of their names in lower case. Without ``role`` and ``text`` they are those of
/// the staff, as for callers that know no other roles.
package struct ListAccounts: Command, Checked {
    package static let name = "account.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let accounts: [Account]
        /// Where the next page begins; absent on the last one.
        package let next: String?

        package init(accounts: [Account], next: String?) {
            self.accounts = accounts
            self.next = next
        }
    }

    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: String?
    /// Only accounts of this role.
    package let role: Role?
    /// Only accounts whose names begin with this text, in any case, of whatever role.
    package let text: String?

    package init(limit: Int, after: String? = nil, role: Role? = nil, text: String? = nil) {
        self.limit = limit
        self.after = after
        self.role = role
        self.text = text
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after, role, text
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.page.check(limit, CodingKeys.limit)
        try Role.checkKnown(role, CodingKeys.role)
        try PersonLimits.search.check(text, CodingKeys.text)
    }
}

/// `account.find`: one account of any role. ``GetAccount`` finds only those of the staff, since its callers may know no other roles.
package struct FindAccount: Command {
    package static let name = "account.find"
    package typealias Reply = Account

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `account.get`: one account of the staff.
package struct GetAccount: Command {
    package static let name = "account.get"
    package typealias Reply = Account

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `account.names`: what people call the persons of some accounts.
package struct ReadDisplayNames: Command, Checked {
    package static let name = "account.names"

    package struct Reply: Codable, Hashable, Sendable {
        /// The display names, by the accounts as they were asked for. Accounts without one, unknown and removed ones are missing.
        package let displayNames: [String: String]

        package init(displayNames: [String: String]) {
            self.displayNames = displayNames
        }

        private enum CodingKeys: String, CodingKey {
            case displayNames = "display_names"
        }
    }

    package static let maxAccounts = 100

    package let accounts: [AccountName]

    package init(_ accounts: [AccountName]) {
        self.accounts = accounts
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accounts
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxAccounts).check(accounts.count, CodingKeys.accounts)
    }
}

/// `account.update`: changes the given fields. Disabling ends the account's sign-ins and tokens. The last active super user can
/// be neither disabled nor given another role.
package struct UpdateAccount: Command, Checked {
    package static let name = "account.update"
    package typealias Reply = Account

    package let account: AccountName
    package let role: Role?
    package let disabled: Bool?
    package let secondFactorRequired: Bool?
    /// Its identifier (`sub`) at the OpenID Connect provider; empty to remove it. The sign-ins and tokens of the previous one end.
    package let oidc: String?
    /// What people call its person; empty to remove it. Alone, it may be changed by the account itself.
    package let displayName: String?
    /// Whether it may create classes.
    package let professor: Bool?

    package init(
        _ account: AccountName, role: Role? = nil, disabled: Bool? = nil, secondFactorRequired: Bool? = nil, oidc: String? = nil,
        displayName: String? = nil, professor: Bool? = nil
    ) {
        self.account = account
        self.role = role
        self.disabled = disabled
        self.secondFactorRequired = secondFactorRequired
        self.oidc = oidc
        self.displayName = displayName
        self.professor = professor
    }

    /// Whether it changes nothing but the display name.
    package var changesOnlyDisplayName: Bool {
        role == nil && disabled == nil && secondFactorRequired == nil && oidc == nil && professor == nil
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, role, disabled, oidc, professor
        case secondFactorRequired = "second_factor_required"
        case displayName = "display_name"
    }

    package func check() throws(SchemaViolation) {
        try Role.checkKnown(role, CodingKeys.role)
        try PeopleLimits.subjectOrNone.check(oidc, CodingKeys.oidc)
        try PeopleLimits.displayNameOrNone.check(displayName, CodingKeys.displayName)
    }
}

/// `account.password`: a new password. It ends the account's sign-ins and tokens.
package struct ChangePassword: Command, Checked {
    package static let name = "account.password"
    package typealias Reply = Account

    package let account: AccountName
    package let password: Secret
    /// The current password, checked if it is given. Wrong ones are limited as in ``BeginSignIn``.
    package let currentPassword: Secret?
    /// The client's network address, for the limit of wrong passwords.
    package let address: String?

    package init(_ account: AccountName, password: Secret, currentPassword: Secret? = nil, address: String? = nil) {
        self.account = account
        self.password = password
        self.currentPassword = currentPassword
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password, address
        case currentPassword = "current_password"
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.checkGiven(currentPassword, CodingKeys.currentPassword)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `account.remove`: removes an account with its sign-ins and tokens. Its name is never used again. The last active super user
/// cannot be removed.
package struct RemoveAccount: Command {
    package static let name = "account.remove"
    package typealias Reply = Done

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}
