import CryptoExtras
import FoundationEssentials
import Base
import Synchronization

/// The service account whose key file the emulator writes, in Google's form.
///
/// The account lives as long as its file. Only `token_uri` follows the emulator's port.
final class ServiceAccount: Sendable {
    static let file = "service-account.json"
    /// The project's number. A phone sees it as the sender of messages that were not sent to a topic.
    static let projectNumber = "103953800507"

    let projectID: String
    let clientEmail: String
    let publicKey: _RSA.Signing.PublicKey

    private let folder: StateFolder
    private let document: Mutex<JSONValue>

    /// Reads the account, or creates one on the first start.
    ///
    /// - Throws: ``StateFileError``.
    init(in folder: StateFolder) throws {
        self.folder = folder
        let path = folder.path(of: Self.file)
        let document: JSONValue
        if let stored = try folder.read(Self.file) {
            guard let parsed = try? JSONValue(parsing: stored), parsed.members != nil else {
                throw StateFileError.damaged(path, "not a JSON object")
            }
            document = parsed
        } else {
            document = try Self.newDocument()
        }
        func field(_ name: String) throws -> String {
            guard let text = document[name]?.string, !text.isEmpty else {
                throw StateFileError.damaged(path, "the field \(name) is missing or not a text")
            }
            return text
        }
        guard try field("type") == "service_account" else {
            throw StateFileError.damaged(path, "the field type is not \"service_account\"")
        }
        projectID = try field("project_id")
        clientEmail = try field("client_email")
        do {
            publicKey = try _RSA.Signing.PrivateKey(pemRepresentation: try field("private_key")).publicKey
        } catch let error as StateFileError {
            throw error
        } catch {
            throw StateFileError.damaged(path, "the field private_key is not an RSA key of 2048 bits or more in PEM form")
        }
        self.document = Mutex(document)
    }

    /// The token endpoint in the key file. It is the audience of a token request.
    var tokenURI: String {
        document.withLock { $0["token_uri"]?.string ?? "" }
    }

    /// Writes the key file with the emulator's port, unless it has that port already.
    ///
    /// - Throws: ``StateFileError``.
    func listen(on port: Int) throws {
        let uri = "https://127.0.0.1:\(port)/token"
        let changed = document.withLock { document -> JSONValue? in
            guard document["token_uri"]?.string != uri else { return nil }
            document = document.replacing("token_uri", with: .string(uri))
            return document
        }
        guard let members = changed?.members else { return }
        // One member on each line, as in Google's file.
        let lines = members.map { "  \(JSONValue.string($0.name).text): \($0.value.text)" }
        try folder.write("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8, to: Self.file, mode: 0o600)
    }

    private static func newDocument() throws -> JSONValue {
        let project = "msi-emulator"
        let email = "firebase-adminsdk-msi@\(project).iam.gserviceaccount.com"
        let keyID = (0..<20).map { _ in
            let byte = String(UInt8.random(in: 0...255), radix: 16)
            return byte.count == 1 ? "0" + byte : byte
        }.joined()
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        return [
            "type": "service_account",
            "project_id": .string(project),
            "private_key_id": .string(keyID),
            "private_key": .string(key.pkcs8PEMRepresentation),
            "client_email": .string(email),
            "client_id": .string((0..<21).map { _ in String(Int.random(in: 1...9)) }.joined()),
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": "",
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
            "client_x509_cert_url": .string(
                "https://www.googleapis.com/robot/v1/metadata/x509/\(email.split(separator: "@").joined(separator: "%40"))"),
            "universe_domain": "googleapis.com",
        ]
    }
}

extension JSONValue {
    /// The object with one member's value replaced in place, or the member added at the end.
    fileprivate func replacing(_ name: String, with value: JSONValue) -> JSONValue {
        guard let members else { return self }
        guard members.contains(where: { $0.name == name }) else { return .object(members + [Member(name, value)]) }
        return .object(members.map { $0.name == name ? Member(name, value) : $0 })
    }
}
