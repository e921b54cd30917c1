import FoundationEssentials
import Base
import JWTKit
import Schemas
import ServiceKit

/// A Firebase project's service account: the relay's identity at Google, and its private key.
struct ServiceAccount: Sendable {
    let projectID: String
    let clientEmail: String
    /// Google's id of the key.
    let privateKeyID: String
    let privateKey: Insecure.RSA.PrivateKey
    /// The token endpoint, which exchanges a signed assertion for an access token: an `https://` URL.
    let tokenURI: String
}

extension ServiceAccount: CustomStringConvertible {
    /// Does not contain the key.
    var description: String { "\(clientEmail) of the project \(projectID)" }
}

extension ServiceAccount {
    /// Reads a key file in Google's form.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and the field, and quotes none of the content.
    init(file path: String) throws {
        do {
            self = try Self(json: try Data(contentsOf: URL(filePath: path)))
        } catch let violation as SchemaViolation {
            throw ConfigurationError("the service account in \(path) cannot be used: \(violation)")
        } catch {
            throw ConfigurationError(
                "the service account in \(path) cannot be read: \((error as? CocoaError)?.reason ?? "\(error)")")
        }
    }

    /// - Throws: ``SchemaViolation`` that names the field and quotes none of the content.
    init(json: Data) throws {
        let file = try JSONCoder.decode(KeyFile.self, from: json)
        guard file.type == "service_account" else {
            throw SchemaViolation(field: "type", problem: "expected \"service_account\"")
        }
        projectID = try Self.checked(file.projectID, "project_id", "expected letters, digits, '-', '.' and ':'") { id in
            id.utf8.allSatisfy(Self.isProjectCharacter)
        }
        privateKeyID = try Self.checked(file.privateKeyID, "private_key_id", "expected a text that is not empty")
        clientEmail = try Self.checked(file.clientEmail, "client_email", "expected an e-mail address") { $0.contains("@") }
        tokenURI = try Self.checked(file.tokenURI, "token_uri", "expected an https:// URL") { $0.hasPrefix("https://") }
        do {
            privateKey = try Insecure.RSA.PrivateKey(pem: file.privateKey)
        } catch {
            // The parser's error might quote the key.
            throw SchemaViolation(field: "private_key", problem: "expected an RSA key of at least 2048 bits in PEM form")
        }
    }

    private static func checked(
        _ text: String, _ field: String, _ expected: String, _ isRight: (String) -> Bool = { _ in true }
    ) throws(SchemaViolation) -> String {
        guard !text.isEmpty, isRight(text) else { throw SchemaViolation(field: field, problem: expected) }
        return text
    }

    /// Whether a byte needs no percent-encoding in a URL's path.
    private static func isProjectCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

/// The used fields of a key file. Google's files have more.
private struct KeyFile: Decodable {
    let type: String
    let projectID: String
    let privateKeyID: String
    let privateKey: String
    let clientEmail: String
    let tokenURI: String

    private enum CodingKeys: String, CodingKey {
        case type
        case projectID = "project_id"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case tokenURI = "token_uri"
    }
}
