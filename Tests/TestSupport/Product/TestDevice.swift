package import Base
import Crypto
import FoundationEssentials
package import Schemas

/// A device of a person in tests: a key that signs what the hub asks for.
package struct TestDevice: Sendable {
    private let key = P256.Signing.PrivateKey()
    package let platform: DevicePlatform
    package let language: String?

    package init(_ platform: DevicePlatform = .web, language: String? = "en") {
        self.platform = platform
        self.language = language
    }

    /// It as the body of a sign-in names it.
    package var document: NewDevice {
        NewDevice(key: key.publicKey.x963Representation.base64URL, platform: platform, name: "a test", language: language)
    }

    /// The `nonce` of an ID token that is made for this device.
    package var thumbprint: String { Data(SHA256.hash(data: key.publicKey.x963Representation)).base64URL }

    /// Signs a proof.
    package func proof(_ purpose: DeviceProof.Purpose, nonce: Secret, subject: String) throws -> String {
        try key.signature(for: Data(DeviceProof.text(purpose, nonce: nonce, subject: subject).utf8)).rawRepresentation.base64URL
    }

    /// Signs the proof of a sign-in with a credential.
    package func proof(of credential: PersonCredential, nonce: Secret) throws -> String {
        let subject = SHA256.hash(data: Data(credential.provenText.utf8)).hexadecimal
        return try proof(.signIn, nonce: nonce, subject: subject)
    }

    /// The body of `PUT /user`, as JSON.
    package func signInBody(with credential: PersonCredential, nonce: Secret) throws -> JSONValue {
        [
            "credential": try JSONValue(encoding: credential), "device": try JSONValue(encoding: document),
            "nonce": .string(nonce.text), "proof": .string(try proof(of: credential, nonce: nonce)),
        ]
    }
}
