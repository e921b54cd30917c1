import Crypto
import FoundationEssentials
import Schemas
import Storage

/// The stored key of ``OpenIDSignIn``.
struct SealingKey: StoredDocument, Hashable {
    static let id = "oidc"

    let id: String
    /// In Base64.
    let bytes: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case bytes
    }

    /// - Throws: ``CommandFailure`` with `internal` if the document is damaged.
    var key: SymmetricKey {
        get throws(CommandFailure) {
            guard let data = Data(base64Encoded: bytes), data.count == 32 else {
                throw CommandFailure(.internal, "the key in people_key is damaged; remove the document")
            }
            return SymmetricKey(data: data)
        }
    }
}
