package import JSON
package import Time

/// The limits of texts and lists about accounts.
package enum PeopleLimits {
    /// The valid length of a new password in Unicode scalars.
    package static let password: ClosedRange<Int64> = 8...256
    /// The maximum length of a client's network address.
    package static let address = TextLimits(max: 64)
    /// A token's name.
    package static let tokenName = TextLimits(max: 100, .name)
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
