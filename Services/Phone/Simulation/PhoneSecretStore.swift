import Base
import Crypto
import FoundationEssentials
import MobileApp

/// The phone's place for the app's key. A real phone's hardware never gives the key out; this phone keeps it with the operating system's
/// data.
struct PhoneSecretStore: SecretStore {
    let memory: PhoneMemory

    /// The file was changed by hand.
    struct Damaged: Error {}

    func publicKey() async throws -> Data { try key().publicKey.x963Representation }

    func sign(_ message: Data) async throws -> Data { try key().signature(for: message).rawRepresentation }

    func remove() async throws { try memory.change { $0.key = nil } }

    func sha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }

    private func key() throws -> P256.Signing.PrivateKey {
        let kept = try memory.change { system in
            let key = system.key ?? P256.Signing.PrivateKey().rawRepresentation.base64URL
            system.key = key
            return key
        }
        guard let bytes = Data(base64URL: kept) else { throw Damaged() }
        return try P256.Signing.PrivateKey(rawRepresentation: bytes)
    }
}
