import CryptoExtras
import FoundationEssentials

@testable import FCMRelay

/// A service account of no project.
enum TestAccount {
    /// Made once: it takes a while.
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// The text of a key file.
    ///
    /// - Parameters:
    ///   - field: One to change, and what to; `nil` leaves it out.
    static func json(tokenURI: String, changing field: String? = nil, to value: String? = nil) throws -> Data {
        var fields = [
            "type": "service_account", "project_id": "campus-test", "private_key_id": "0123abcd",
            "private_key": try key.get().pkcs8PEMRepresentation,
            "client_email": "relay@campus-test.iam.gserviceaccount.com", "client_id": "1",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs", "universe_domain": "googleapis.com",
        ]
        if let field { fields[field] = value }
        return try JSONEncoder().encode(fields)
    }
}
