import FoundationEssentials
import Base
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// No password, token, cookie or key appears where it does not belong.
    @Suite("Secrets")
    struct SecretTests {
        @Test("In a full run with the most verbose log, no secret is in an output, an error, a process list or a store")
        func fullRun() async throws {
            try await withTemporaryFolder { folder in
                let search = SecretSearch()
                try makeCertificate(in: folder, search)
                let state = folder + "/state"
                let lines = try await OpenIDTestProvider.with { provider in
                    // Beside the hub: it has what the hub must not keep. The hub is open to others, so msi up has none.
                    let port = ["MSI_IDENTITY_EMULATOR_PORT": "0"]
                    return try await withService("msi-identity-emulator", in: folder, settings: port) { emulator in
                        try await useHub(in: folder, provider, IdentityEmulatorAccess(port: try emulator.port), search)
                    }
                }
                search.show(Data(lines.joined(separator: "\n").utf8), at: "the output of msi up")
                try keepTokenKey(in: state, search)
                try search.showFiles(in: state)
                try search.showFiles(in: folder + "/backup", as: "backup/")
                expectOnlyKnownPlaces(search)
            }
        }

        /// The output of `msi up` while people and scripts use it.
        private func useHub(
            in folder: String, _ provider: OpenIDTestProvider, _ emulator: IdentityEmulatorAccess, _ search: SecretSearch
        ) async throws -> [String] {
            let state = folder + "/state"
            let registration = try await provider.register(redirect: "https://localhost/session/oidc/callback")
            search.keep(registration.clientSecret, as: "the client's secret")
            let settings = [
                "MSI_LOG_LEVEL": "trace", "MSI_GATEWAY_HOST": "0.0.0.0", "MSI_GATEWAY_PUBLIC_URL": "https://localhost",
                "MSI_GATEWAY_TLS_CERTIFICATE_FILE": folder + "/tls.pem", "MSI_GATEWAY_TLS_KEY_FILE": folder + "/tls.key",
                "MSI_OIDC_ISSUER": provider.issuer, "MSI_OIDC_CLIENT_ID": registration.clientID,
                "MSI_OIDC_CLIENT_SECRET": registration.clientSecret, "MSI_OIDC_COMMUNICATORS": "staff",
                "MSI_REGISTRATION": "code",
            ].merging(emulator.settings) { $1 }
            return try await withStack(in: state, settings: settings) { stack in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // Processes that live for a moment show their command lines as well.
                    group.addTask {
                        while !Task.isCancelled {
                            search.showProcesses()
                            try? await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    try keepEmulatorKeys(in: state, search)
                    try await withHTTPClient(trusting: folder + "/tls.pem") { http in
                        let visit = SecretVisit(stack: stack, http: http, search: search, folder: folder)
                        try await visit.use()
                        try await visit.useProvider(provider)
                        try await visit.misuse()
                        let identity = IdentityServer(url: emulator.url, http: stack.portal.http)
                        try await StudentVisit(visit: visit, identity: identity).use()
                        try await visit.useCommandLine()
                        try await visit.makeBackup()
                    }
                    group.cancelAll()
                }
                expectPrivateFiles(in: state)
                return stack.program.lines
            }
        }

        private func makeCertificate(in folder: String, _ search: SecretSearch) throws {
            try TestCertificate().write(certificateFile: folder + "/tls.pem", keyFile: folder + "/tls.key")
            keepLines(of: try String(contentsOfFile: folder + "/tls.key", encoding: .utf8), as: "the TLS key", search)
        }

        /// The relay's key for FCM, and the key of the emulator's certificates.
        private func keepEmulatorKeys(in state: String, _ search: SecretSearch) throws {
            let folder = state + "/fcm-emulator"
            let account = try JSONValue(parsing: Data(contentsOf: URL(filePath: folder + "/service-account.json")))
            keepLines(of: try #require(account["private_key"]?.string), as: "the service account's key", search)
            let authority = try String(contentsOfFile: folder + "/ca-key.pem", encoding: .utf8)
            keepLines(of: authority, as: "the emulator's key", search)
        }

        /// The key that signs the tokens of devices, which is in the store alone.
        private func keepTokenKey(in state: String, _ search: SecretSearch) throws {
            let stored = ["", "-wal"].compactMap { ending in
                FileManager.default.contents(atPath: state + "/people.sqlite" + ending)
            }.map { String(decoding: $0, as: UTF8.self) }.joined()
            let key = stored.firstMatch(of: /"private_key" : "([A-Za-z0-9_-]{43})"/).map { String($0.1) }
            search.keep(try #require(key), as: "the key of students' tokens")
        }

        private func keepLines(of key: String, as name: String, _ search: SecretSearch) {
            for (number, line) in key.split(separator: "\n").filter({ !$0.hasPrefix("-") && $0.count >= 16 }).enumerated() {
                search.keep(String(line), as: "\(name), line \(number)")
            }
        }

        /// The first password and the operator's token are in their files, the people service needs the secret of a second factor and
        /// that of the client, and the emulator keeps its keys in its folder. Programs have the secrets of their environment. The people
        /// service alone has what students say about themselves, how their devices are reached, and the key of their tokens. Everything else
        /// is nowhere.
        private func expectOnlyKnownPlaces(_ search: SecretSearch) {
            let ofPeople = ["the TOTP secret", "the key of students' tokens", "the phone's token"]
            let fields = Set(search.names.filter { $0.hasPrefix("profile: ") })
            #expect(search.names.count > 35 && fields.count == 6, "\(search.names)")
            let leaks = search.leaks
            let stores = leaks.filter { leak in
                let isInPeople = ["people.sqlite", "backup/people.sqlite"].contains { leak.place.hasPrefix($0) }
                return isInPeople && (ofPeople.contains(leak.secret) || fields.contains(leak.secret))
                    || leak.place.hasPrefix("fcm-emulator/")
                        && (leak.secret.contains("'s key, line") || leak.secret == "the phone's token")
            }
            let expected: Set<SecretSearch.Leak> = [
                .init(secret: "the first password", place: "password"),
                .init(secret: "the new operator's token", place: "token"),
                .init(secret: "the client's secret", place: "environ of msi"),
                .init(secret: "the client's secret", place: "environ of msi-people"),
            ]
            // It lives only for a moment.
            let script = SecretSearch.Leak(secret: "the script's token", place: "environ of msi")
            // That the search finds something shows that it works.
            #expect(expected.isSubset(of: leaks) && Set(stores.map(\.secret)).isSuperset(of: fields.union(ofPeople)))
            #expect(leaks.subtracting(expected).subtracting(stores).subtracting([script]).isEmpty)
        }

        /// Only the owner may use the files of the state directory. (The emulator's certificate is public, in a private folder.)
        private func expectPrivateFiles(in folder: String) {
            let manager = FileManager.default
            for path in (try? manager.subpathsOfDirectory(atPath: folder)) ?? [] where !path.hasSuffix("/ca.pem") {
                let attributes = try? manager.attributesOfItem(atPath: folder + "/" + path)
                guard let mode = attributes?[.posixPermissions] as? Int else { continue }
                #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
            }
        }
    }
}
