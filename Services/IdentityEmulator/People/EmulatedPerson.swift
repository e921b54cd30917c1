import Base

/// A person who can sign in at each of the providers.
struct EmulatedPerson: Hashable, Sendable {
    /// The person's identifier at all providers.
    let sub: String
    /// An object with claims of the person's ID tokens: `given_name`, `family_name`, `name`, `email`, `email_verified`, and any other.
    let claims: JSONValue

    /// How the pages show the person.
    var name: String { text("name") ?? sub }

    var email: String? { text("email") }

    /// Whether the provider has verified the address. Without the claim it counts as verified.
    var isEmailVerified: Bool { claims["email_verified"] != .boolean(false) }

    func text(_ claim: String) -> String? { claims[claim]?.string }

    init(sub: String, claims: JSONValue) {
        self.sub = sub
        self.claims = claims
    }

    /// A person as the form of the pages describes them.
    ///
    /// - Parameter email: `nil` if they have none.
    init(sub: String, firstName: String, lastName: String, email: String?, isEmailVerified: Bool) {
        var claims: JSONValue = [
            "name": .string("\(firstName) \(lastName)"), "given_name": .string(firstName), "family_name": .string(lastName),
        ]
        if let email {
            claims["email"] = .string(email)
            claims["email_verified"] = .boolean(isEmailVerified)
        }
        self.init(sub: sub, claims: claims)
    }

    /// Those who are there at the first start.
    static let samples = [
        EmulatedPerson(
            sub: "100000000000000000001", firstName: "Dana", lastName: "Diaz", email: "dana@example.edu", isEmailVerified: true),
        EmulatedPerson(
            sub: "100000000000000000002", firstName: "Emil", lastName: "Ek", email: "emil@example.edu", isEmailVerified: true),
        EmulatedPerson(
            sub: "100000000000000000003", firstName: "Farah", lastName: "Faris", email: "farah@example.edu",
            isEmailVerified: true),
        EmulatedPerson(
            sub: "100000000000000000004", firstName: "Gina", lastName: "Gray", email: "gina@example.edu", isEmailVerified: false),
    ]

    /// A new identifier in Google's form: 21 digits.
    static func newSub() -> String { "1" + (0..<20).map { _ in String(Int.random(in: 0...9)) }.joined() }

    /// Whether a text can be an identifier: the form allows those of each provider, and needs no escaping.
    static func isSub(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) != nil }
}
