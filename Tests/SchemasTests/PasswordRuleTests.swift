import Base
import Schemas
import Testing

@Suite("New passwords")
struct PasswordRuleTests {
    private enum Field: CodingKey {
        case password
    }

    private func isAccepted(_ password: String) -> Bool {
        (try? PeopleLimits.checkNew(Secret(password), Field.password)) != nil
    }

    @Test(
        "Passwords that everybody tries first are refused, even in capitals and with digits at the end",
        arguments: [
            "password", "Password1!", "12345678", "87654321", "aaaaaaaa", "abababab", "qwertyuiop", "Welcome2026",
            "studentstudent",
            "abcdefgh",
        ])
    func common(password: String) {
        #expect(!isAccepted(password))
    }

    @Test(
        "Other passwords are not",
        arguments: ["copper-lantern-orchard", "my password book", "Sunshine over Basel", "passwort der Omi", "k7#pQ!z2"])
    func others(password: String) {
        #expect(isAccepted(password))
    }

    @Test("A password is counted in composed letters, and an account is not named for a folder of a path")
    func forms() throws {
        #expect(!isAccepted("e\u{301}e\u{301}aqe\u{301}e\u{301}x"))
        for (name, isValid) in [(".", false), ("..", false), ("...", true), (".a", true), ("a", true)] {
            let add = AddAccount(account: try #require(AccountName(name)), password: nil, role: .communicator, oidc: "x")
            #expect(((try? add.check()) != nil) == isValid)
            #expect(try (Regex(AccountName.pattern).wholeMatch(in: name) != nil) == isValid)
        }
        #expect(try Regex(AccountName.pattern).wholeMatch(in: String(repeating: "a", count: 64)) != nil)
    }
}
