package import Base

/// The limits of texts and lists about accounts.
package enum PeopleLimits {
    /// The valid length of a new password in Unicode scalars.
    package static let password: ClosedRange<Int64> = 8...256
    /// The maximum length of a client's network address.
    package static let address = TextLimits(max: 64)
    /// A token's name.
    package static let tokenName = TextLimits(max: 100, .name)
    /// An account's display name.
    package static let displayName = TextLimits(max: 100, .name)
    /// The same, or an empty text.
    package static let displayNameOrNone = TextLimits(max: 100, mayBeBlank: true, .name)
    /// The secret of an invitation.
    package static let invitation = TextLimits(max: 200)
    /// How long an invitation may be used.
    package static let invitationTime = Milliseconds.seconds(24 * 3_600)
    /// The maximum number of parts of the cube in a token's scope.
    package static let maxScope: Int64 = 100
    /// An account's identifier at the OpenID Connect provider; OpenID Connect limits `sub` to 255 characters.
    package static let subject = TextLimits(max: 255)
    /// The same, or an empty text.
    package static let subjectOrNone = TextLimits(max: 255, mayBeBlank: true)
    /// The valid number of documents of a page.
    package static let page = 1...200
    /// The maximum number of an account's sign-ins. A further one ends the oldest.
    package static let maxSignIns = 50
    /// The maximum number of an account's tokens.
    package static let maxTokens = 100
    /// The use of a sign-in postpones its end to this time after the use.
    package static let signInIdleLimit = Milliseconds.seconds(2 * 3_600)
    /// The maximum duration of a sign-in, however much it is used.
    package static let maxSignInDuration = Milliseconds.seconds(12 * 3_600)
    /// How long a confirmed password counts.
    package static let confirmationTime = Milliseconds.seconds(5 * 60)
    /// How far the clock of a gateway may be behind that of the people service.
    package static let clockTolerance = Milliseconds.seconds(60)
    /// The maximum number of uses in one report.
    package static let maxUses = 1_000

    /// Checks a new password. The error does not contain it.
    package static func checkNew(_ password: Secret?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let password = password?.prepared else { return }
        let length = Int64(password.text.unicodeScalars.count)
        guard Self.password.contains(length) else {
            throw SchemaViolation(
                field,
                "expected a password of \(Self.password.lowerBound) to \(Self.password.upperBound) characters, found \(length)",
                limit: .range(Self.password))
        }
        guard !CommonPasswords.contains(password.text) else {
            throw SchemaViolation(
                field, "expected a password that is not among those that everybody tries first",
                limit: FieldLimit(keywords: ["examples": ["copper lantern orchard"]], example: "copper lantern orchard"))
        }
    }

    /// Checks the length of a password or a code that is compared with a stored one.
    package static func checkGiven(_ secret: Secret?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let secret, Int64(secret.text.unicodeScalars.count) > password.upperBound else { return }
        throw SchemaViolation(
            field, "expected at most \(password.upperBound) characters", limit: .range(0...password.upperBound))
    }
}

/// Passwords that attackers try first (NIST SP 800-63B, section 5.1.1.2, asks to refuse them). A list of the commonest ones is enough,
/// since wrong attempts are limited; one breach corpus has hundreds of millions, which no service here should carry.
enum CommonPasswords {
    /// Whether a password is a common one: in any case, and with digits, punctuation or a repetition at its end.
    static func contains(_ password: String) -> Bool {
        let text = password.lowercased()
        let bare = String(text.reversed().drop { !$0.isLetter }.reversed())
        let half = String(text.prefix(text.count / 2))
        return known.contains(text) || known.contains(bare) || half + half == text && known.contains(half)
            || Set(text).count <= 2 || isRow(text)
    }

    /// Whether each character follows the one before it, as in `12345678` or `hgfedcba`.
    private static func isRow(_ text: String) -> Bool {
        let values = text.unicodeScalars.map { Int($0.value) }
        let steps = Set(zip(values, values.dropFirst()).map { $1 - $0 })
        return steps == [1] || steps == [-1] || text == "1234567890" || text == "0987654321"
    }

    private static let known: Set<String> = [
        "abc123", "access", "admin", "admin123", "administrator", "asdfasdf", "asdfghjk", "asdfghjkl", "baseball", "batman",
        "changeme",
        "charlie", "computer", "default", "dragon", "einstein", "football", "freedom", "geheim", "hallo", "hello", "iloveyou",
        "internet",
        "jennifer", "jordan", "letmein", "liverpool", "login", "manchester", "master", "michael", "michelle", "monkey", "mustang",
        "mypassword",
        "nothing", "pass", "passw0rd", "password", "p@ssw0rd", "p@ssword", "pokemon", "princess", "q1w2e3r4", "q1w2e3r4t5",
        "qazwsx", "qazwsxedc",
        "qwer1234", "qwerty", "qwertyui", "qwertyuiop", "qwertz", "qwertzui", "qwertzuiop", "secret", "shadow", "starwars",
        "student",
        "summer", "sunshine", "superman", "test", "testtest", "trustno1", "university", "user", "welcome", "whatever", "winter",
        "zaq12wsx",
        "zaq1zaq1", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "11223344", "12341234", "12344321", "123123123", "123321123",
        "123qwe123",
        "147258369", "159753456", "789456123", "87654321", "98765432",
    ]
}
