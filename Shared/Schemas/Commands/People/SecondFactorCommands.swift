package import Base

/// `account.second_factor.begin`: makes a secret for an authenticator app. It takes effect with ``ConfirmSecondFactor``. An account
/// that has a second factor gets `conflict`.
package struct BeginSecondFactor: Command {
    package static let name = "account.second_factor.begin"

    package struct Reply: Codable, Hashable, Sendable {
        /// In Base32, to type into the app.
        package let secret: Secret
        /// `otpauth://totp/…`, to show as a QR code.
        package let uri: Secret

        package init(secret: Secret, uri: Secret) {
            self.secret = secret
            self.uri = uri
        }
    }

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `account.second_factor.confirm`: the app's code for the secret of ``BeginSecondFactor``. From now on signing in asks for a code.
package struct ConfirmSecondFactor: Command, Checked {
    package static let name = "account.second_factor.confirm"

    package struct Reply: Codable, Hashable, Sendable {
        /// Each signs in once instead of a code. They are shown only here.
        package let recoveryCodes: [Secret]

        package init(recoveryCodes: [Secret]) {
            self.recoveryCodes = recoveryCodes
        }

        private enum CodingKeys: String, CodingKey {
            case recoveryCodes = "recovery_codes"
        }
    }

    package let account: AccountName
    package let code: Secret

    package init(_ account: AccountName, code: Secret) {
        self.account = account
        self.code = code
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, code
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

/// `account.second_factor.remove`: forgets the second factor with its recovery codes, for example of a lost phone.
package struct RemoveSecondFactor: Command {
    package static let name = "account.second_factor.remove"
    package typealias Reply = Account

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}
