import Crypto
import FoundationEssentials
import Schemas

extension CredentialHash {
    init(of secret: Secret) {
        self.init(digest: SHA256.hash(data: Data(secret.text.utf8)))
    }
}
