import Crypto
import FoundationEssentials
import MobileApp
import Synchronization

/// A platform's place for the device's key, in memory.
final class TestSecretStore: SecretStore {
    struct Locked: Error {}

    private let key = Mutex<P256.Signing.PrivateKey?>(nil)
    private let locked = Mutex(false)

    /// The key that there is.
    var point: Data? { key.withLock { $0?.publicKey.x963Representation } }

    /// The platform refuses the key, such as before the phone is unlocked for the first time.
    func setLocked(_ isLocked: Bool) { locked.withLock { $0 = isLocked } }

    func publicKey() async throws -> Data { try own().publicKey.x963Representation }

    func sign(_ message: Data) async throws -> Data { try own().signature(for: message).rawRepresentation }

    func remove() async throws { key.withLock { $0 = nil } }

    func sha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }

    private func own() throws -> P256.Signing.PrivateKey {
        if locked.withLock({ $0 }) { throw Locked() }
        return key.withLock { key in
            let own = key ?? P256.Signing.PrivateKey()
            key = own
            return own
        }
    }
}
