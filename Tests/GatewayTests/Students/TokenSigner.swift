import Base
import Crypto
import DeviceTokens
import FoundationEssentials
import Schemas
import TestSupport

@testable import Gateway

/// A key that signs the tokens of devices, as the people service does.
struct TokenSigner: Sendable {
    let id: String
    let key = P256.Signing.PrivateKey()

    init(_ id: String = "k1") {
        self.id = id
    }

    /// The public key, as the people service tells it.
    var announced: DeviceTokenKey { DeviceTokenKey(id: id, key: key.publicKey.x963Representation.base64URL) }

    func token(_ claims: DeviceTokenClaims) throws -> Secret {
        try DeviceToken.signed(claims, by: key, id: id)
    }

    /// A token of a student's device.
    func token(
        _ account: String = "ann", _ device: ObjectID = ObjectID(), issued: UnixMilliseconds = .now
    ) throws -> Secret {
        try token(.sample(account, device, issued: issued))
    }

    /// A token of any form, for attacks: its three parts are these bytes.
    func token(header: String, payload: Data, signature: (Data) throws -> Data) rethrows -> Secret {
        let signed = "\(Data(header.utf8).base64URL).\(payload.base64URL)"
        return Secret("\(signed).\(try signature(Data(signed.utf8)).base64URL)")
    }
}

extension AccountName {
    /// A name that a test knows to be valid.
    static func sample(_ name: String) -> AccountName {
        guard let account = AccountName(name) else { preconditionFailure("\(name) is not a valid name") }
        return account
    }
}

extension DeviceTokenClaims {
    static func sample(
        _ account: String = "ann", _ device: ObjectID = ObjectID(), issued: UnixMilliseconds = .now
    ) -> DeviceTokenClaims {
        DeviceTokenClaims(account: .sample(account), device: device, role: .student, professor: false, issued: issued)
    }
}

extension PersonCaller {
    static func sample(
        _ account: String = "ann", _ device: ObjectID = ObjectID(), issued: UnixMilliseconds = .now
    ) -> PersonCaller {
        PersonCaller(.sample(account, device, issued: issued), hash: Secret("\(account) \(device) \(issued)").credentialHash)
    }
}

extension UnixMilliseconds {
    static func ago(_ time: Duration) -> UnixMilliseconds { .now - Milliseconds(time) }
}
