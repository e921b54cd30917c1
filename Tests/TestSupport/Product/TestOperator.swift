import Bus
import Crypto
import FoundationEssentials
package import Schemas
import Testing

/// The operator of a product that the tests start without `msi up`: the super user `admin`, and the token in the state directory.
package enum TestOperator {
    package static let account = "admin"
    package static let password = "correct horse battery staple"

    /// The token in a state directory, which is made if it is missing.
    package static func token(in folder: String) throws -> String {
        let file = URL(filePath: folder + "/token")
        if let text = try? String(contentsOf: file, encoding: .utf8) {
            return String(text.prefix { !$0.isWhitespace })
        }
        let token = Secret.newToken().text
        try Data(token.utf8).write(to: file)
        return token
    }

    /// Makes the account and the token known to the running people service, as the first start of `msi up` does.
    ///
    /// - Parameter endpoint: The service's endpoint; by default the one in the state directory.
    package static func setUp(in folder: String, endpoint: String? = nil) async throws {
        guard let account = AccountName(account) else { return }
        let hash = Secret(try token(in: folder)).credentialHash
        try await withBus { bus in
            let people = try CommandClient(
                bus: bus, endpoints: [endpoint ?? "ipc://\(folder)/run/people.sock"], logger: quietLogger)
            if try await people.request(ListAccounts(limit: 1)).accounts.isEmpty {
                let command = SetUpPeople(account: account, password: Secret(password), tokenHash: hash)
                _ = try await people.request(command, timeout: .seconds(60))
            } else if await people.failure(of: FindCredential(hash: hash)) != nil {
                // The accounts are in a database that an earlier product has used, with another state directory.
                _ = try await people.request(ReplaceOperatorToken(account: account, tokenHash: hash))
            }
        }
    }

    /// Copies the people service's files and the token after a first start into an empty state directory. Hashing a password for
    /// each test would take long.
    package static func prepare(_ folder: String) async throws {
        guard !FileManager.default.fileExists(atPath: folder + "/people.sqlite") else { return }
        for (name, content) in try await firstStart.value where !FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
            try content.write(to: URL(filePath: "\(folder)/\(name)"))
        }
    }

    /// The files after a first start, by their names.
    private static let firstStart = Task {
        try await withTemporaryFolder { folder in
            try await withService("msi-people", in: folder) { _ in try await setUp(in: folder) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
                $0 == "token" || $0.hasPrefix("people.sqlite")
            }
            return try names.map { ($0, try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))) }
        }
    }
}

extension Secret {
    /// The hash by which the services know this token, or this cookie's value.
    package var credentialHash: CredentialHash { CredentialHash(digest: SHA256.hash(data: Data(text.utf8))) }
}
