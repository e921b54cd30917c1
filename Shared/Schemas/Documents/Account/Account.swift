package import Base

/// An account, without its secrets.
package struct Account: Codable, Hashable, Sendable {
    package let account: AccountName
    /// What people call its person, for display only; `nil` for none.
    package let displayName: String?
    package let role: Role
    /// `true` if it may create classes; absent otherwise. An account of any role may have the mark.
    package let professor: Bool?
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
    /// Its last sign-in, an hour late at most; `nil` for never.
    package let lastSignIn: UnixMilliseconds?
    /// A link that sets its password, while nobody has used it; `nil` for none.
    package var invitation: Invitation?

    package init(
        account: AccountName, displayName: String? = nil, role: Role, professor: Bool? = nil, disabled: Bool,
        secondFactor: SecondFactor, secondFactorRequired: Bool, hasPassword: Bool, oidc: String?, created: UnixMilliseconds,
        lastSignIn: UnixMilliseconds? = nil,
        invitation: Invitation? = nil
    ) {
        self.account = account
        self.displayName = displayName
        self.role = role
        self.professor = professor
        self.disabled = disabled
        self.secondFactor = secondFactor
        self.secondFactorRequired = secondFactorRequired
        self.hasPassword = hasPassword
        self.oidc = oidc
        self.created = created
        self.lastSignIn = lastSignIn
        self.invitation = invitation
    }

    private enum CodingKeys: String, CodingKey {
        case account, role, professor, disabled, oidc, created, invitation
        case displayName = "display_name"
        case secondFactor = "second_factor"
        case secondFactorRequired = "second_factor_required"
        case hasPassword = "has_password"
        case lastSignIn = "last_sign_in"
    }
}

/// An account's name: 1 to ``maxLength`` characters of `A–Z a–z 0–9 . _ - @`. Two names that differ only in case are equal.
///
/// The name identifies the account for ever: it is the `actor` of a request and the `sender` of a message, so that it is never used
/// for another account.
package struct AccountName: Sendable {
    package static let maxLength = 64

    /// As the account's creator wrote it.
    private let text: String
    /// In lower case: equal for equal names.
    package let key: String

    package init?(_ description: String) {
        guard (1...Self.maxLength).contains(description.utf8.count), description.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        text = description
        key = description.lowercased()
    }

    /// Whether a new account may have it. In a path, `.` and `..` stand for folders, so that no request could name the account.
    package var mayBeNew: Bool { text != "." && text != ".." }

    /// The words beside accounts' names in paths: `POST /account/import` and `GET /user/friends/requests`.
    private static let pathWords: Set<String> = ["import", "requests"]

    /// Whether it is such a word. The people service gives it to no new account.
    package var isPathWord: Bool { Self.pathWords.contains(key) }

    /// Checks the name of a new account.
    package func checkNew(_ field: some CodingKey) throws(SchemaViolation) {
        guard mayBeNew else { throw SchemaViolation(field, "expected a name other than . and ..") }
    }

    private static func isAllowed(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}

extension AccountName: Hashable {
    package static func == (one: AccountName, other: AccountName) -> Bool { one.key == other.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension AccountName: TextCodable {
    package var description: String { text }

    package static var expected: String { "1 to \(maxLength) characters of A–Z a–z 0–9 . _ - @ (an account's name)" }
    package static var pattern: String {
        "^([A-Za-z0-9_@-][A-Za-z0-9._@-]{0,63}|\\.[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,62}|\\.\\.[A-Za-z0-9._@-]{1,62})$"
    }
    package static var example: String { "ann" }
}

/// A right of an account or of a token.
package enum AccountRight: String, ClosedEnum {
    /// Read the archive, as far as the access lists of the cube allow it.
    case read
    /// Post, recall and retry messages, where the access lists of the cube allow it.
    case send
    /// Change the cube, its access lists, accounts and other accounts' tokens.
    case administer
}

/// The state of an account's second factor: one-time codes of an authenticator app (TOTP, RFC 6238).
package enum SecondFactor: String, ClosedEnum {
    /// Not set up, and not required.
    case none
    /// Signing in asks for a code.
    case set
    /// The account has a second factor, but this sign-in through the OpenID Connect provider has not presented a code yet. It may do nothing
    /// else.
    case pending
    /// Not set up, but required: a sign-in may only set it up.
    case required
}

/// The invitation of an account: a link with which its person sets the password and signs in, once.
package struct Invitation: Codable, Hashable, Sendable {
    /// When the link ends.
    package let expires: UnixMilliseconds
    /// The path of the link. Its secret is in the fragment, which browsers send to no server. Only in the answer that makes the invitation.
    package let linkPath: Secret?

    /// - Parameter secret: `nil` if it is no longer known.
    package init(expires: UnixMilliseconds, secret: Secret? = nil) {
        self.expires = expires
        linkPath = secret.map { Secret("/#invitation=\($0.text)") }
    }

    private enum CodingKeys: String, CodingKey {
        case expires
        case linkPath = "link_path"
    }
}
