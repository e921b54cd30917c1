package import Base

/// `sign_in.begin`: signs in.
///
/// - A wrong name, a wrong password and a disabled account have the same answer, `unauthenticated`, after the same work.
/// - A missing or wrong code is `unauthenticated` with the field `code`.
/// - After too many attempts the answer is `overloaded` with `retry_after`.
package struct BeginSignIn: Command, Checked {
    package static let name = "sign_in.begin"
    package typealias Reply = SignedIn

    /// Any text, since an invalid name is only a wrong one.
    package let account: String
    package let password: Secret
    /// A code of the authenticator app, or a recovery code.
    package let code: Secret?
    /// The client's network address.
    package let address: String

    package init(account: String, password: Secret, code: Secret? = nil, address: String) {
        self.account = account
        self.password = password
        self.code = code
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password, code, address
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(account, CodingKeys.account)
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// A new sign-in.
package struct SignedIn: Codable, Hashable, Sendable {
    /// The value of the cookie: 43 characters of URL-safe Base64.
    package let secret: Secret
    package let credential: Credential

    package init(secret: Secret, credential: Credential) {
        self.secret = secret
        self.credential = credential
    }
}

/// `sign_in.confirm`: the password again, for what a sign-in alone does not allow. The errors are those of ``BeginSignIn``.
package struct ConfirmSignIn: Command, Checked {
    package static let name = "sign_in.confirm"
    package typealias Reply = Credential

    package let hash: CredentialHash
    package let password: Secret
    package let code: Secret?
    /// The client's network address.
    package let address: String

    package init(hash: CredentialHash, password: Secret, code: Secret? = nil, address: String) {
        self.hash = hash
        self.password = password
        self.code = code
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hash, password, code, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `sign_in.code`: the code that a sign-in at the OpenID Connect provider lacks (``SecondFactor/pending``). Wrong ones are limited as in
/// ``BeginSignIn``.
package struct ShowSecondFactor: Command, Checked {
    package static let name = "sign_in.code"
    package typealias Reply = Credential

    package let hash: CredentialHash
    /// A code of the authenticator app, or a recovery code.
    package let code: Secret
    /// The client's network address.
    package let address: String

    package init(hash: CredentialHash, code: Secret, address: String) {
        self.hash = hash
        self.code = code
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hash, code, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(code, CodingKeys.code)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `sign_in.end`: signs out. An unknown or ended sign-in is not an error.
package struct EndSignIn: Command {
    package static let name = "sign_in.end"
    package typealias Reply = Done

    package let hash: CredentialHash

    package init(hash: CredentialHash) {
        self.hash = hash
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hash
    }
}
