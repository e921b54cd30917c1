public import FoundationEssentials

/// The platform's place for the device's key: a pair of P-256 whose private key never leaves the device. It is what signs a person in for
/// months, and no other secret exists.
///
/// - On Android: the Keystore (`KeyPairGenerator` with `secp256r1` and `PURPOSE_SIGN`). Its signatures (`SHA256withECDSA`) are in DER;
///   ``sign(_:)`` gives the two numbers instead. Its key's encoding (X.509) ends with the point.
/// - On iOS: the Secure Enclave (`SecureEnclave.P256.Signing.PrivateKey`), whose `dataRepresentation` is kept in the Keychain as
///   `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`. Its `publicKey.x963Representation` and `signature(for:).rawRepresentation` are in
///   the forms that are wanted here.
///
/// Neither needs the person's finger or face: the app gets tokens in the background.
public protocol SecretStore: Sendable {
    /// The public key as an uncompressed point: 65 bytes, 4 and the two coordinates. Makes the pair if there is none.
    func publicKey() async throws -> Data

    /// A signature by ECDSA with SHA-256 in its raw form: 64 bytes, its two numbers.
    func sign(_ message: Data) async throws -> Data

    /// Removes the pair. Succeeds if there is none.
    func remove() async throws

    /// The SHA-256 of data: the platform has it, so that the app needs no library for it.
    func sha256(_ data: Data) -> Data
}
