import CryptoExtras
import FoundationEssentials

@testable import FCMRelay

/// A service account of no project.
enum TestAccount {
    /// Made once: it takes a second or two, during which other tests need not stand still.
    private static let making = Task.detached { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    static var key: _RSA.Signing.PrivateKey {
        get async throws { try await making.value }
    }

    /// The text of a key file.
    ///
    /// - Parameters:
    ///   - field: One to change, and what to; `nil` leaves it out.
    static func json(tokenURI: String, changing field: String? = nil, to value: String? = nil) async throws -> Data {
        var fields = [
            "type": "service_account", "project_id": "campus-test", "private_key_id": "0123abcd",
            "private_key": try await key.pkcs8PEMRepresentation,
            "client_email": "relay@campus-test.iam.gserviceaccount.com", "client_id": "1",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs", "universe_domain": "googleapis.com",
        ]
        if let field { fields[field] = value }
        return try JSONEncoder().encode(fields)
    }
}
