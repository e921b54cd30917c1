import Schemas

/// A person who makes a request from one of their devices, as the device's token says.
///
/// On the heap, since each step of a request copies its context, and since the requests of an hour share it.
final class PersonCaller: Sendable {
    let claims: DeviceTokenClaims
    /// The hash of the token.
    let hash: CredentialHash

    init(_ claims: DeviceTokenClaims, hash: CredentialHash) {
        self.claims = claims
        self.hash = hash
    }

    var account: AccountName { claims.sub }
    var device: ObjectID { claims.dev }
}
