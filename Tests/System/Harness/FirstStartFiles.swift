import Bus
import FoundationEssentials
import Schemas
import TestSupport
import Testing

/// The password of admin and the operator's token, which the first start of a stack writes.
struct FirstStartFiles: Sendable {
    private let stack: Stack
    private let folder: String

    init(of stack: Stack) {
        self.stack = stack
        folder = stack.stateDirectory
    }

    /// Expects that the first start without a terminal has written them to files, and nowhere else.
    func expectInPlace() async throws -> (password: Secret, token: Secret) {
        let password = try stack.firstPassword
        #expect(password.text.wholeMatch(of: /([a-z2-9]{4}-){4}[a-z2-9]{4}/) != nil)
        #expect(stack.program.lines.contains("  password  in the file \(folder)/password"))
        #expect(!stack.program.lines.contains { $0.contains(password.text) })
        for name in ["token", "password"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let token = Secret(String(try String(contentsOfFile: folder + "/token", encoding: .utf8).dropLast()))
        let credential = try await stack.withPeople { client in
            let signIn = BeginSignIn(account: "admin", password: password, address: "127.0.0.1")
            #expect(try await client.request(signIn).credential.role == .superUser)
            return try await client.request(FindCredential(hash: token.credentialHash))
        }
        #expect(credential.isOperator == true && credential.rights == AccountRight.allCases)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder + "/log") {
            let log = try String(contentsOfFile: folder + "/log/" + file, encoding: .utf8)
            #expect(!log.contains(password.text) && !log.contains(token.text), "\(file)")
        }
        return (password, token)
    }

    /// Expects that they are as they were after the first start.
    func expectKept(_ password: Secret, _ token: Secret) async throws {
        #expect(!stack.program.lines.contains { $0.contains("password") || $0.contains("token") })
        _ = try await stack.withPeople {
            try await $0.request(BeginSignIn(account: "admin", password: password, address: "127.0.0.1"))
        }
        #expect(try String(contentsOfFile: folder + "/token", encoding: .utf8) == token.text + "\n")
    }
}

extension Stack {
    /// The password of admin, from the file of the first start.
    var firstPassword: Secret {
        get throws {
            Secret(String(try String(contentsOfFile: stateDirectory + "/password", encoding: .utf8).dropLast()))
        }
    }

    /// A client of the people service.
    func withPeople<Value: Sendable>(_ body: (CommandClient) async throws -> Value) async throws -> Value {
        try await withBus { bus in
            try await body(
                CommandClient(bus: bus, endpoints: ["ipc://\(stateDirectory)/run/people.sock"], logger: quietLogger))
        }
    }
}

/// Copies the operator's token to a new state directory. The accounts move with the data, and the token stays that of the first start.
func carryToken(from folder: String, to other: String) throws {
    try FileManager.default.createDirectory(
        atPath: other, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: folder + "/token", toPath: other + "/token")
}
