import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Operator

/// How the packages' commands read the files that systemd reads for the units: by `deploy/packaging/environment-file`. `Tests/Systemd`
/// compares it with systemd.
@Suite("Environment files")
struct EnvironmentFileTests {
    private func values(_ text: String) async throws -> [String: String] {
        try await withTemporaryFolder { folder in
            try Data(text.utf8).write(to: URL(filePath: folder + "/cluster.env"))
            let reader = try BuiltProduct.packageFolder() + "/deploy/packaging/environment-file"
            let script = #"eval "$("$0" "$1")"; env -0 > "$2""#
            let arguments = [reader, folder + "/cluster.env", folder + "/variables"].map(\.shellQuoted).joined(separator: " ")
            try #require(system("env -i PATH=/usr/bin:/bin sh -c \(script.shellQuoted) \(arguments)") == 0)
            let variables = try String(contentsOfFile: folder + "/variables", encoding: .utf8).split(separator: "\0")
            return variables.reduce(into: [:]) { values, variable in
                guard variable.hasPrefix("MSI_"), let equals = variable.firstIndex(of: "=") else { return }
                values[String(variable[..<equals])] = String(variable[variable.index(after: equals)...])
            }
        }
    }

    @Test(
        "Quotes are no part of a value, a backslash continues a line, the last line with a name counts, and nothing is expanded")
    func rules() async throws {
        let text = #"""
            # A comment with MSI_NO=1
            ; and another one
            MSI_A=plain value  
            MSI_B="double  quoted "
            MSI_C='single $HOME "x"'
            MSI_D=one \
            two
            MSI_E="a\"b\\c\$d\`e\nf"
            MSI_F=
             MSI_G = spaced
            MSI_H=a"b"c
            MSI_I=it's
            MSI_J=x=y#z
            export MSI_NO=1
            PATH=/nowhere
            MSI_K=first
            MSI_K="second"
            MSI_L="two
            lines"
            MSI_M=last
            """#
        #expect(
            try await values(text) == [
                "MSI_A": "plain value", "MSI_B": "double  quoted ", "MSI_C": "single $HOME \"x\"", "MSI_D": "one two",
                "MSI_E": "a\"b\\c$d`e\\nf", "MSI_F": "", "MSI_G": "spaced", "MSI_H": "a\"b\"c", "MSI_I": "it's", "MSI_J": "x=y#z",
                "MSI_K": "second", "MSI_L": "two\nlines", "MSI_M": "last",
            ])
        #expect(try await values("") == [:])
    }

    @Test("A value of several lines may look like a statement, and may have quotation marks at its ends")
    func severalLines() async throws {
        let text = #"""
            MSI_A="first
            [ -n \"\${MSI_B+set}\" ] || export MSI_B='x'
            [section]"
            MSI_C="'"
            MSI_D=''
            MSI_E="'it's'"
            MSI_F=last
            """#
        #expect(
            try await values(text) == [
                "MSI_A": "first\n[ -n \"${MSI_B+set}\" ] || export MSI_B='x'\n[section]", "MSI_C": "'", "MSI_D": "",
                "MSI_E": "'it's'", "MSI_F": "last",
            ])
    }
}
