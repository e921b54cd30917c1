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
