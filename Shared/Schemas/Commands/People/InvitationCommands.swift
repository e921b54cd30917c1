package import Base

/// `account.invite`: a new invitation of an account. It ends the one before. The answer is the only one with the link.
package struct InviteAccount: Command {
    package static let name = "account.invite"
    package typealias Reply = Account

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `sign_in.invitation.read`: whose an invitation is. It stays valid.
///
/// One that is unknown, was used, has expired or was replaced is `unauthenticated` with the field `invitation`. Attempts are limited as
/// in ``BeginSignIn``.
package struct ReadInvitation: Command, Checked {
    package static let name = "sign_in.invitation.read"

    package struct Reply: Codable, Hashable, Sendable {
        package let account: AccountName
        package let displayName: String?
        package let expires: UnixMilliseconds
        /// Whether the account has a second factor, whose code ``AcceptInvitation`` needs.
        package let needsCode: Bool

        package init(account: AccountName, displayName: String?, expires: UnixMilliseconds, needsCode: Bool) {
            self.account = account
            self.displayName = displayName
            self.expires = expires
            self.needsCode = needsCode
        }

        private enum CodingKeys: String, CodingKey {
            case account, expires
            case displayName = "display_name"
            case needsCode = "needs_code"
        }
    }

    /// The secret of the link.
    package let invitation: Secret
    /// The client's network address.
    package let address: String

    package init(invitation: Secret, address: String) {
        self.invitation = invitation
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case invitation, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.invitation.check(invitation.text, CodingKeys.invitation)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `sign_in.invitation.accept`: sets the password of an invited account, and signs in. Its other sign-ins and its tokens end. The
/// errors are those of ``ReadInvitation``; a missing or wrong code is `unauthenticated` with the field `code`, and leaves the invitation.
package struct AcceptInvitation: Command, Checked {
    package static let name = "sign_in.invitation.accept"
    package typealias Reply = SignedIn

    /// The secret of the link.
    package let invitation: Secret
    /// The new password.
    package let password: Secret
    /// A code of the authenticator app, or a recovery code.
    package let code: Secret?
    /// The client's network address.
    package let address: String

    package init(invitation: Secret, password: Secret, code: Secret? = nil, address: String) {
        self.invitation = invitation
        self.password = password
        self.code = code
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case invitation, password, code, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.invitation.check(invitation.text, CodingKeys.invitation)
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}
