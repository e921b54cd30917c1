import Base
import Schemas
import Testing

@testable import Operator

/// What `msi account import` reads.
@Suite("A list of students")
struct StudentListTests {
    private static func name(_ text: String) throws -> AccountName { try #require(AccountName(text)) }

    @Test("The columns are read in any order, and an empty cell says nothing")
    func columns() throws {
        let list = try StudentList(
            csv: "\u{feff}Professor;OIDC;account;display_name\r\n;17;ann;Ann Lee\r\nTRUE;18;ben;\r\n;;;\r\n")
        #expect(
            list.rows == [
                ImportedAccount(account: try Self.name("ann"), oidc: "17", displayName: "Ann Lee"),
                ImportedAccount(account: try Self.name("ben"), oidc: "18", professor: true),
            ])
        let least = try StudentList(csv: "account,oidc\nann,17\n")
        #expect(least.rows == [ImportedAccount(account: try Self.name("ann"), oidc: "17")])
        #expect(try StudentList(csv: "account,oidc\n").rows.isEmpty)
    }

    @Test(
        "An error names the line",
        arguments: [
            ("", 1, "header"), ("account,oidc,email\n", 1, "\"email\" is not a column"), ("account\nann\n", 1, "oidc is missing"),
            ("account,oidc\nann,17\na b,18\n", 3, "account: expected"), ("account,oidc\nann,\n", 2, "oidc"),
            ("account,oidc\n..,17\n", 2, "account"), ("account,oidc,professor\nann,17,yes\n", 2, "professor: expected true"),
            ("account,oidc\nann,17\nANN,18\n", 3, "the account ANN is there twice"),
            ("account,oidc\nann,17\nben,17\n", 3, "the identifier 17 is there twice"),
        ])
    func errors(_ text: String, _ line: Int, _ problem: String) throws {
        let error = #expect(throws: CSVError.self) { try StudentList(csv: text) }
        #expect(error?.line == line && error?.problem.contains(problem) == true, "\(String(describing: error))")
    }

    @Test("Leavers are those who may sign in at the provider and whose identifier the list lacks, whatever their names are")
    func missing() throws {
        func student(_ name: String, _ oidc: String?) throws -> Account {
            Account(
                account: try Self.name(name), role: .student, disabled: false, secondFactor: .none, secondFactorRequired: false,
                hasPassword: oidc == nil, oidc: oidc, created: 0)
        }
        let list = try StudentList(csv: "account,oidc\nann,17\n")
        let students = [try student("ann.lee", "17"), try student("ann", "18"), try student("own", nil)]
        #expect(list.missing(of: students).map(\.account) == [try Self.name("ann")])
    }
}
