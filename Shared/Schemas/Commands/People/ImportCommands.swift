package import Base

/// `account.import`: adds and changes accounts by a list, such as that of a university's office. Each row is done by itself, and its outcome
/// says what came of it. Repeated, it changes nothing.
package struct ImportAccounts: Command, Checked {
    package static let name = "account.import"

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each row, in their order.
        package let outcomes: [ImportOutcome]

        package init(outcomes: [ImportOutcome]) {
            self.outcomes = outcomes
        }
    }

    /// The maximum number of rows of a command.
    package static let maxRows = 100

    package let rows: [ImportedAccount]
    /// Only says what would come of it.
    package let dryRun: Bool

    package init(rows: [ImportedAccount], dryRun: Bool) {
        self.rows = rows
        self.dryRun = dryRun
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case rows
        case dryRun = "dry_run"
    }

    package func check() throws(SchemaViolation) {
        guard (1...Self.maxRows).contains(rows.count) else {
            throw SchemaViolation(
                CodingKeys.rows, "expected 1 to \(Self.maxRows) rows, found \(rows.count)",
                limit: .range(1...Int64(Self.maxRows)))
        }
    }
}

/// A row of a list: a student whom the university's provider knows.
package struct ImportedAccount: Codable, Checked, Hashable, Sendable {
    package let account: AccountName
    /// The identifier (`sub`) at the OpenID Connect provider, by which the person signs in.
    package let oidc: String
    package let displayName: String?
    package let professor: Bool?

    package init(account: AccountName, oidc: String, displayName: String? = nil, professor: Bool? = nil) {
        self.account = account
        self.oidc = oidc
        self.displayName = displayName
        self.professor = professor
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, oidc, professor
        case displayName = "display_name"
    }

    package func check() throws(SchemaViolation) {
        try account.checkNew(CodingKeys.account)
        try PeopleLimits.subject.check(oidc, CodingKeys.oidc)
        try PeopleLimits.displayName.check(displayName, CodingKeys.displayName)
    }
}

/// What came of a row.
package struct ImportOutcome: Codable, Hashable, Sendable {
    package enum Kind: String, ClosedEnum {
        case added, changed, unchanged
        /// Another person has the account, or the identifier another account; or it is an account of the staff.
        case refused
    }

    package let account: AccountName
    package let outcome: Kind
    /// Why it was refused; absent otherwise.
    package let reason: String?

    package init(account: AccountName, outcome: Kind, reason: String? = nil) {
        self.account = account
        self.outcome = outcome
        self.reason = reason
    }
}
