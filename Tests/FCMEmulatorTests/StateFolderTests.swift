import Foundation
import Logging
import Testing
import TestSupport

@testable import FCMEmulator

@Suite("The emulator's state folder")
struct StateFolderTests {
    @Test("The first start creates the files that clients need")
    func theFirstStartMakesWhatClientsNeed() async throws {
        try await TemporaryFolder.with { folder in
            var logger = Logger(label: "test")
            logger.logLevel = .warning
            let emulator = try await Emulator(
                folder: folder.emulator, port: 0, topicPayloadLimit: 4_096, behaviour: try Behaviour(), logger: logger)
            try emulator.account.listen(on: 1)
            try emulator.close()
            #expect(try folder.text(of: "ca.pem").hasPrefix("-----BEGIN CERTIFICATE-----"))
            #expect(try folder.mode(of: "ca-key.pem") == 0o600)
            #expect(try folder.mode(of: "service-account.json") == 0o600)
            #expect(try folder.mode(of: "access-token.key") == 0o600)
            let text = try folder.text(of: "service-account.json")
            let account = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
            #expect(account?["type"] == "service_account")
            #expect(account?["project_id"] == "msi-emulator")
            #expect(account?["private_key"]?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
            #expect(account?["private_key"]?.hasSuffix("-----END PRIVATE KEY-----\n") == true)
            #expect(
                Set(account?.keys.map { $0 } ?? []) == [
                    "type", "project_id", "private_key_id", "private_key", "client_email", "client_id", "auth_uri", "token_uri",
                    "auth_provider_x509_cert_url", "client_x509_cert_url", "universe_domain",
                ])
        }
    }

    @Test(
        "A damaged file, or a certificate authority without its key, is an error that names the file, and it is not replaced",
        arguments: [
            ("ca.pem", "garbage", "not a certificate in PEM form"),
            ("ca-key.pem", "garbage", "not a P-256 private key in PEM form"), ("ca-key.pem", nil, "ca-key.pem"),
            ("service-account.json", "{", "not a JSON object"),
            ("service-account.json", "{\"type\":\"service_account\"}", "the field project_id is missing"),
            ("access-token.key", "short", "expected 32 bytes, found 5"),
            ("emulator.sqlite", String(repeating: "garbage ", count: 1_000), "emulator.sqlite"),
        ] as [(String, String?, String)])
    func aDamagedFileIsNamedAndNotReplaced(file: String, content: String?, problem: String) async throws {
        try await TemporaryFolder.with { folder in
            try await withEmulator(in: folder) { _ in }
            try FileManager.default.removeItem(atPath: "\(folder.emulator)/\(file)")
            if let content { try folder.write(content, to: file) }
            let error = await #expect(throws: (any Error).self) { try await withEmulator(in: folder) { _ in } }
            let description = "\(try #require(error))"
            #expect(description.contains(file))
            #expect(description.contains(problem))
            #expect((try? folder.text(of: file)) == content)
        }
    }

    @Test("The certificate authority can still issue certificates years later")
    func theAuthorityStillIssuesYearsLater() async throws {
        try await TemporaryFolder.with { folder in
            let state = try StateFolder(path: folder.path)
            let first = try CertificateAuthority(in: state, now: Date())
            let later = try CertificateAuthority(in: state, now: Date() + 10 * 365 * 86_400)
            #expect(first.certificate == later.certificate)
            _ = try later.issueServerCertificate(now: Date() + 10 * 365 * 86_400)
        }
    }
}
