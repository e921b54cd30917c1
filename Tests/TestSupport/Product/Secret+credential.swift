import Crypto
import FoundationEssentials
package import Schemas

extension Secret {
    /// The hash by which the services know this token, or this cookie's value.
    package var credentialHash: CredentialHash { CredentialHash(digest: SHA256.hash(data: Data(text.utf8))) }
}
