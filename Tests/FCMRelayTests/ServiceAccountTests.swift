import CryptoExtras
import FoundationEssentials
import Base
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import FCMRelay

@Suite("Service account files")
struct ServiceAccountTests {
    @Test("A key file of Google's is read")
    func readsAKeyFileOfGoogles() async throws {
        let account = try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: "https://oauth2.googleapis.com/token"))
        #expect(account.projectID == "campus-test")
        #expect(account.clientEmail == "relay@campus-test.iam.gserviceaccount.com")
        #expect(account.privateKeyID == "0123abcd")
        #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
        #expect("\(account)" == "relay@campus-test.iam.gserviceaccount.com of the project campus-test")
    }

    @Test(
        "A missing or wrong field is an error that names it",
        arguments: ["type", "project_id", "private_key_id", "private_key", "client_email", "token_uri"])
    func aMissingOrWrongFieldIsNamed(field: String) async throws {
        let wrong: [String?] = [nil, "", "not right/ever"]
        for value in wrong where !(field == "private_key_id" && value == "not right/ever") {
            let error = await #expect(throws: SchemaViolation.self) {
                try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: "https://127.0.0.1", changing: field, to: value))
            }
            #expect(error?.field == field)
        }
    }

    @Test("A file that is not a key file is refused", arguments: ["", "{", "[]", "7", "\u{FF}", #"{"type":5}"#])
    func whatIsNoKeyFile(text: String) {
        #expect(throws: SchemaViolation.self) { try ServiceAccount(json: Data(text.utf8)) }
    }

    @Test("An error names the file and does not show the key")
    func errorsNameTheFileAndNotTheKey() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/account.json"
            let missing = #expect(throws: ConfigurationError.self) { try ServiceAccount(file: path) }
            #expect(missing?.description == "the service account in \(path) cannot be read: there is no such file")

            let secret = "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkq\n-----END PRIVATE KEY-----\n"
            try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1", changing: "private_key", to: secret)
                .write(to: URL(filePath: path))
            let damaged = #expect(throws: ConfigurationError.self) { try ServiceAccount(file: path) }
            #expect(damaged?.description.contains(path) == true)
            #expect(damaged?.description.contains("private_key") == true)
            #expect(damaged?.description.contains("MIIB") == false)
        }
    }

    @Test("A weak key is refused")
    func aWeakKeyIsRefused() async throws {
        let weak = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)).pkcs8PEMRepresentation
        let error = await #expect(throws: SchemaViolation.self) {
            try await ServiceAccount(
                json: ServiceAccountFile.json(tokenURI: "https://127.0.0.1", changing: "private_key", to: weak))
        }
        #expect(error?.field == "private_key")
    }
}
