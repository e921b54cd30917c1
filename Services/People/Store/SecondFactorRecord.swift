import Schemas

/// The stored second factor of an account.
struct SecondFactorRecord: Codable, Hashable, Sendable {
    /// In Base32.
    let secret: Secret
    /// Whether the account has shown that its app has the secret. Until then, signing in does not ask for a code.
    var isConfirmed: Bool
    /// The time step of the last accepted code. Codes of it and of earlier steps are refused.
    var lastStep: Int64?
    /// The SHA-256 of the unused recovery codes, in hexadecimal digits.
    var recoveryCodes: [CredentialHash]

    private enum CodingKeys: String, CodingKey {
        case secret
        case isConfirmed = "confirmed"
        case lastStep = "last_step"
        case recoveryCodes = "recovery_codes"
    }
}
