import Bus
import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

extension SystemTests {
    /// The first account, the operator's token, and `msi account`.
    @Suite("Accounts")
    struct AccountTests {
        @Test("The first start on a terminal prints the password of admin, and writes it nowhere")
        func firstStartOnTerminal() async throws {
            try await withTemporaryFolder { folder in
                let script = """
                    import os, pty, signal, sys
                    pid, terminal = pty.fork()
                    if pid == 0:
                        os.execv(sys.argv[1], [sys.argv[1], "up"])
                    seen = b""
                    while True:
                        try:
                            part = os.read(terminal, 1000)
                        except OSError:
                            part = b""
                        if not part: break
                        if b"ready:" not in seen and b"ready:" in seen + part: os.kill(pid, signal.SIGINT)
                        seen += part
                    print(seen.decode().replace(chr(13), ""))
                    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    """
                StackCount.started("msi up on a terminal")
                let end = try await runProgram(
                    "/usr/bin/python3", ["-c", script, BuiltProduct.path(of: "msi")], environment: upSettings(in: folder))
                #expect(end.exitCode == 0, "\(end.lines)")
                let passwords = end.lines.compactMap { $0.wholeMatch(of: /\s+password +(([a-z2-9]{4}-){4}[a-z2-9]{4})/) }
                #expect(passwords.count == 1, "\(end.lines)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/password"))
            }
        }

        @Test("A token that cannot be read does not keep an account from being disabled")
        func unreadableToken() async throws {
            try await withPeopleService { people in
                let token = people.folder + "/token"
                try FileManager.default.removeItem(atPath: token)
                try FileManager.default.createDirectory(atPath: token, withIntermediateDirectories: false)
                let disabled = try await people.account(["disable", "admin"])
                #expect(disabled.exitCode == 1 && disabled.lines.joined().contains("last super user"), "\(disabled.lines)")
            }
        }

        @Test("Accounts are added, listed, disabled, enabled, removed and get new passwords by msi account")
        func commands() async throws {
            let settings = ["MSI_OIDC_ISSUER": "http://127.0.0.1:1", "MSI_OIDC_CLIENT_ID": "hub"]
            try await withPeopleService(settings) { people in
                func signIn(_ password: String) async throws -> ReplyStatus? {
                    try await people.withClient {
                        await $0.failure(
                            of: BeginSignIn(account: "ann", password: Secret(password), address: "127.0.0.1"))?.status
                    }
                }
                let added = try await people.account(["add", "Ann"], input: "the first password")
                #expect(added.exitCode == 0 && added.lines == ["added Ann as communicator"], "\(added.lines)")
                #expect(try await signIn("the first password") == nil)
                let sso = try await people.account(["add", "sso", "--oidc", "17", "--role", "super_user"])
                #expect(sso.lines == ["added sso as super_user"])
                let list = try await people.account(["list"]).lines
                #expect(
                    list.map { $0.split(separator: " ").joined(separator: " ") }
                        == [
                            "admin super_user active", "Ann communicator active",
                            "sso super_user active no password OpenID Connect 17",
                        ], "\(list)")
                #expect(try await people.account(["link", "ann", "18"]).lines == ["Ann is 18 at the provider"])
                let taken = try await people.account(["link", "ann", "17"])
                #expect(taken.lines == ["msi: the account sso has this identifier at the provider"] && taken.exitCode == 1)
                #expect(try await people.account(["link", "ann"]).lines == ["Ann does not sign in at the provider any more"])
                #expect(try await people.account(["disable", "ann"]).lines == ["disabled Ann"])
                #expect(try await signIn("the first password") == .unauthenticated)
                #expect(try await people.account(["enable", "ann"]).lines == ["enabled Ann"])
                #expect(try await people.account(["password", "ann"], input: "the second password").exitCode == 0)
                #expect(try await signIn("the first password") == .unauthenticated)
                #expect(try await signIn("the second password") == nil)
                let token = try String(contentsOfFile: people.folder + "/token", encoding: .utf8)
                #expect(try await people.account(["token", "ann"]).exitCode == 1)
                #expect(try String(contentsOfFile: people.folder + "/token", encoding: .utf8) == token)
                #expect(!FileManager.default.fileExists(atPath: people.folder + "/token.new"))

                // The command line is a separate author.
                var filter = AuditFilter()
                filter.action = "account.link"
                let entries = try await people.withClient {
                    try await $0.request(ListAuditEntries(limit: 10, filter: filter)).entries.map(\.entry)
                }
                #expect(entries.count == 2, "\(entries)")
                for entry in entries { #expect(entry.actor?.hasPrefix("cli:") == true && entry.address == "local", "\(entry)") }
                let changed = try await people.account(["password", "admin"], input: "the third password")
                #expect(changed.lines.last?.hasSuffix("msi account token") == true, "\(changed.lines)")
                #expect(try await people.account(["remove", "ann"]).lines == ["removed ann"])

                let again = try await people.account(["add", "ann"], input: "the first password")
                #expect(again.exitCode == 1)
                #expect(again.lines == ["msi: the account Ann was removed, and its name is never used again"])
                let short = try await people.account(["add", "bob"], input: "short")
                #expect(short.exitCode == 1)
                #expect(short.lines == ["msi: password: expected a password of 8 to 256 characters, found 5"])
                let none = try await people.account(["add", "bob"])
                #expect(none.lines == ["msi: there is no password on standard input"])
                #expect(try await people.account(["disable", "nobody"]).lines == ["msi: no account nobody"])
            }
        }

        @Test("A list of students is imported by msi account import, and leavers are disabled only if they are few or it is said")
        func importedList() async throws {
            let settings = ["MSI_OIDC_ISSUER": "http://127.0.0.1:1", "MSI_OIDC_CLIENT_ID": "hub"]
            try await withPeopleService(settings) { people in
                let file = people.folder + "/students.csv"
                func importing(_ csv: String, _ flags: String...) async throws -> ProgramEnd<Void> {
                    try Data(csv.utf8).write(to: URL(filePath: file))
                    return try await people.account(["import", file] + flags)
                }
                func students(_ arguments: String...) async throws -> [String] {
                    try await people.account(["list"] + arguments).lines.map {
                        $0.split(separator: " ").joined(separator: " ")
                    }
                }
                let header = "account,oidc,display_name,professor\r\n"
                // More than the rows of one command.
                let many = header + (100..<220).map { "s\($0),\($0),,\r\n" }.joined()
                let dry = try await importing(many, "--dry-run")
                #expect(dry.exitCode == 0)
                #expect(dry.lines == ["would be: 120 added, 0 changed, 0 unchanged, 0 refused"])
                #expect(try await students("--role", "student") == ["there is no such account"])
                #expect(try await importing(many).lines == ["120 added, 0 changed, 0 unchanged, 0 refused"])
                #expect(try await students("--role", "student").count == 120)
                #expect(try await students().map { $0.prefix(5) } == ["admin"])

                let refused = try await importing(header + "s100,100,Ann Lee,true\r\nadmin,300,,\r\ns101,101,,\r\n")
                #expect(refused.exitCode == 1)
                #expect(
                    refused.lines == [
                        "refused admin: admin is no account of a student", "0 added, 1 changed, 1 unchanged, 1 refused",
                    ], "\(refused.lines)")
                #expect(
                    try await students("--search", "S100")
                        == ["s100 student active professor no password OpenID Connect 100"])

                let few = header + (112..<220).map { "s\($0),\($0),,\r\n" }.joined()
                let left = try await importing(few, "--disable-missing")
                #expect(left.exitCode == 0 && left.lines.count == 13 && left.lines.contains("disabled: s100"), "\(left.lines)")
                #expect(left.lines.last == "0 added, 0 changed, 108 unchanged, 0 refused, 12 disabled")
                let tooMany = try await importing(header + "s219,219,,\r\nnew,400,,\r\n", "--disable-missing")
                #expect(tooMany.exitCode == 65 && tooMany.lines.first?.contains("lacks 107 of 108 students") == true)
                #expect(try await students("--search", "new") == ["there is no such account"])
                #expect(try await importing(header + "s219,219,,\r\n", "--disable-missing", "--disable-many").exitCode == 0)
                #expect(try await students("--role", "student").count { $0.contains("disabled") } == 119)

                let unasked = try await people.account(["erase", "s219"])
                #expect(unasked.exitCode == 64 && unasked.lines.joined().contains("--yes"), "\(unasked.lines)")
                #expect(try await students("--search", "s219").count == 1)

                let wrong = try await importing("account,oidc\r\nann,1\r\nann,2\r\n")
                #expect(wrong.exitCode == 65 && wrong.lines == ["msi: \(file): line 3: the account ann is there twice"])

                #expect(try await people.account(["devices", "s219"]).lines == ["s219 is signed in on no device"])
                #expect(try await people.account(["sign-out", "s219"]).lines == ["signed out s219 on all devices"])
                let unknown = try await people.account(["sign-out", "s219", "6b0100000000000000000000"])
                #expect(unknown.exitCode == 1 && unknown.lines.count == 1)
            }
        }

        @Test("Without a university's provider nothing is imported, and a dry run says so")
        func importWithoutProvider() async throws {
            try await withPeopleService { people in
                let file = people.folder + "/students.csv"
                try Data("account,oidc\r\nann,1\r\n".utf8).write(to: URL(filePath: file))
                for flags in [["--dry-run"], []] {
                    let end = try await people.account(["import", file] + flags)
                    #expect(end.exitCode == 78 && end.lines.last?.hasSuffix("; nothing was done") == true, "\(end.lines)")
                }
            }
        }

        @Test("A password that is typed on the terminal is not shown, and has to be typed twice")
        func terminal() async throws {
            try await withPeopleService { people in
                // Types each text after its prompt. Standard output is the terminal's.
                let script = """
                    import os, pty, sys
                    pid, terminal = pty.fork()
                    if pid == 0:
                        os.execv(sys.argv[1], [sys.argv[1], "account", "add", "ann"])
                    seen = b""
                    def read():
                        global seen
                        try:
                            part = os.read(terminal, 1000)
                        except OSError:
                            part = b""
                        seen += part
                        return part
                    for text in sys.argv[2:]:
                        while not seen.endswith(b": ") and read(): pass
                        seen += b"\\n"
                        os.write(terminal, text.encode() + b"\\n")
                    while read(): pass
                    print(seen.decode().replace(chr(13), ""))
                    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    """
                func type(_ texts: String...) async throws -> ProgramEnd<Void> {
                    try await runProgram(
                        "/usr/bin/python3", ["-c", script, BuiltProduct.path(of: "msi")] + texts,
                        environment: ["MSI_STATE_DIR": people.folder])
                }
                let differing = try await type("the first password", "the second password")
                #expect(differing.exitCode == 1)
                #expect(differing.lines.contains { $0.hasPrefix("msi: the two passwords differ") })
                let cancelled = try await type("\u{3}")
                #expect(cancelled.exitCode == 1)
                let added = try await type("the first password", "the first password")
                #expect(added.exitCode == 0, "\(added.lines)")
                #expect(added.lines.contains { $0.hasPrefix("added ann as communicator") })
                for end in [differing, cancelled, added] { #expect(!end.lines.joined().contains("the first")) }
            }
        }

        @Test("Without a running product, msi account says so")
        func notRunning() async throws {
            try await withTemporaryFolder { folder in
                let end = try await msi(["account", "list"], in: folder)
                #expect(end.exitCode == 75)
                #expect(end.lines.count == 1)
                #expect(end.lines.first?.contains("Is msi up running, with the same MSI_STATE_DIR?") == true)
            }
        }

        /// Runs the people service alone, after a first start.
        private func withPeopleService(
            _ settings: [String: String] = [:], _ body: (PeopleAlone) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                try await TestOperator.prepare(folder)
                try await withService("msi-people", in: folder, settings: settings) { _ in
                    try await body(PeopleAlone(folder: folder))
                }
            }
        }
    }
}

/// The people service of a state directory, and `msi account` for it.
private struct PeopleAlone: Sendable {
    let folder: String

    /// Runs `msi account`.
    ///
    /// - Parameter input: A line for its standard input.
    func account(_ arguments: [String], input: String? = nil) async throws -> ProgramEnd<Void> {
        let script = input == nil ? #""$0" account "$@" < /dev/null"# : #"printf '%s\n' "$INPUT" | "$0" account "$@""#
        return try await runProgram(
            "/bin/sh", ["-c", script, BuiltProduct.path(of: "msi")] + arguments,
            environment: ["MSI_STATE_DIR": folder, "INPUT": input ?? ""])
    }

    func withClient<Value: Sendable>(_ body: (CommandClient) async throws -> Value) async throws -> Value {
        try await withBus { bus in
            try await body(CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/people.sock"], logger: quietLogger))
        }
    }
}
