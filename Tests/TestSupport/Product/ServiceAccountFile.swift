package import CryptoExtras
package import FoundationEssentials

/// The key file of a service account, as Google issues it, for a project that does not exist.
package enum ServiceAccountFile {
    /// Created once, because that takes a second or two. It does not block other tests.
    private static let making = Task.detached { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    package static var key: _RSA.Signing.PrivateKey {
        get async throws { try await making.value }
    }

    /// The text of a key file.
    ///
    /// - Parameters:
    ///   - tokenURI: The endpoint where the account gets its access tokens.
    ///   - field: A field to change.
    ///   - value: The field's other value; `nil` leaves the field out.
    package static func json(
        project: String = "campus-test", tokenURI: String, changing field: String? = nil, to value: String? = nil
    ) async throws -> Data {
        var fields = [
            "type": "service_account", "project_id": project, "private_key_id": "0123abcd",
            "private_key": try await key.pkcs8PEMRepresentation,
            "client_email": "relay@\(project).iam.gserviceaccount.com", "client_id": "1",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs", "universe_domain": "googleapis.com",
        ]
        if let field { fields[field] = value }
        return try JSONEncoder().encode(fields)
    }
}
