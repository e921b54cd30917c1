package import Base

/// `provider.list`: the ways to sign in that are set up.
package struct ListProviders: Command {
    package static let name = "provider.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let providers: [OfferedProvider]

        package init(providers: [OfferedProvider]) {
            self.providers = providers
        }
    }

    package init() {}
}

/// `device.challenge`: a text for a device to sign, once and within ``PersonLimits/nonceTime``.
package struct ChallengeDevice: Command {
    package static let name = "device.challenge"

    package struct Reply: Codable, Hashable, Sendable {
        package let nonce: Secret
        package let expires: UnixMilliseconds

        package init(nonce: Secret, expires: UnixMilliseconds) {
            self.nonce = nonce
            self.expires = expires
        }
    }

    package init() {}
}

/// `device.begin`: signs a person in on a device. It authorises the credential, and saves what identifies the device: its public key. A key
/// that the account has already is the same device, and its other fields are replaced.
///
/// - `unauthenticated` with the field of what is wrong: `id_token`, `access_token`, `authorization_code`, `password`, `code` (of the second
///   factor), `nonce` or `proof`.
/// - `not_found` if nobody with this identity has an account.
/// - `unavailable` if the provider cannot be asked, `overloaded` after too many attempts or sign-ins.
package struct BeginDevice: Command, Checked {
    package static let name = "device.begin"
    package typealias Reply = DeviceSignedIn

    package let credential: PersonCredential
    package let device: NewDevice
    /// Of ``ChallengeDevice``.
    package let nonce: Secret
    /// The signature of ``DeviceProof/text(_:nonce:subject:)`` by the device's key.
    package let proof: String
    /// The client's network address.
    package let address: String

    package init(credential: PersonCredential, device: NewDevice, nonce: Secret, proof: String, address: String) {
        self.credential = credential
        self.device = device
        self.nonce = nonce
        self.proof = proof
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case credential, device, nonce, proof, address
    }

    package func check() throws(SchemaViolation) {
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// A device that is signed in: the answer of `PUT /user`.
package struct DeviceSignedIn: Codable, Hashable, Sendable {
    package let person: Person
    /// The device's id.
    package let device: ObjectID
    /// The first token of the device, for `Authorization: Bearer`.
    package let token: Secret
    package let expires: UnixMilliseconds

    package init(person: Person, device: ObjectID, token: Secret, expires: UnixMilliseconds) {
        self.person = person
        self.device = device
        self.token = token
        self.expires = expires
    }
}

/// `person.add`: makes the record of a new person, whose credential it checks as ``BeginDevice`` does. It signs nobody in. Repeated with
/// the same idempotency key, it answers as the first time.
///
/// - `unauthenticated` as ``BeginDevice``, also of a repeated request.
/// - `conflict` with the field `account` if the name was ever used or cannot be, and without a field if the identity has an account already.
/// - `forbidden` if people cannot register this way; with the field `access_code` if that is missing, unknown or used up.
package struct AddPerson: Command, Checked {
    package static let name = "person.add"
    package typealias Reply = Person

    /// The name of the account. Send it only if no access list of the cube has it: who chooses a name must not get the rights of others.
    package let account: AccountName
    package let credential: PersonCredential
    package let device: NewDevice
    package let nonce: Secret
    package let proof: String
    /// A code of a super user, where one is necessary or makes a professor.
    package let accessCode: Secret?
    package let idempotencyKey: String?
    /// The client's network address.
    package let address: String

    package init(
        account: AccountName, credential: PersonCredential, device: NewDevice, nonce: Secret, proof: String,
        accessCode: Secret? = nil, idempotencyKey: String? = nil, address: String
    ) {
        self.account = account
        self.credential = credential
        self.device = device
        self.nonce = nonce
        self.proof = proof
        self.accessCode = accessCode
        self.idempotencyKey = idempotencyKey
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, credential, device, nonce, proof, address
        case accessCode = "access_code"
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        guard StudentName("\(account)") != nil else {
            throw SchemaViolation(CodingKeys.account, "expected \(StudentName.expected)")
        }
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
        try PersonLimits.accessCode.check(accessCode?.text, CodingKeys.accessCode)
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
        try PeopleLimits.address.check(address, CodingKeys.address)
        if let problem = credential.newPasswordProblem { throw problem }
    }
}

/// `device.token`: a new token of a device that is signed in. What is wrong is `unauthenticated` with its field: `device` if it has signed
/// out, its account is disabled, or it was never there; `nonce`; `proof`.
package struct ExchangeDeviceToken: Command, Checked {
    package static let name = "device.token"

    package struct Reply: Codable, Hashable, Sendable {
        package let token: Secret
        package let expires: UnixMilliseconds

        package init(token: Secret, expires: UnixMilliseconds) {
            self.token = token
            self.expires = expires
        }
    }

    package let device: ObjectID
    package let nonce: Secret
    package let proof: String

    package init(device: ObjectID, nonce: Secret, proof: String) {
        self.device = device
        self.nonce = nonce
        self.proof = proof
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case device, nonce, proof
    }

    package func check() throws(SchemaViolation) {
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
    }
}

extension DeviceProof {
    /// Checks the lengths of a nonce and a proof. The errors do not contain them.
    package static func check(
        _ nonce: Secret, _ proof: String, _ nonceField: some CodingKey, _ proofField: some CodingKey
    ) throws(SchemaViolation) {
        if let problem = PersonLimits.nonce.problem(with: nonce.text) { throw SchemaViolation(nonceField, problem) }
        try PersonLimits.deviceProof.check(proof, proofField)
    }
}
