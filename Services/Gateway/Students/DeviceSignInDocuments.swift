package import Base
package import Schemas

/// The body of `PUT /user`.
struct DeviceSignIn: Codable, Checked, Sendable {
    let credential: PersonCredential
    let device: NewDevice
    /// Of `GET /user/challenge`.
    let nonce: Secret
    /// The device's signature; see ``DeviceProof``.
    let proof: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case credential, device, nonce, proof
    }

    func check() throws(SchemaViolation) {
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
    }

    func command(from address: String) -> BeginDevice {
        BeginDevice(credential: credential, device: device, nonce: nonce, proof: proof, address: address)
    }
}

/// The body of `POST /user`.
struct Registration: Codable, Checked, Sendable {
    let account: StudentName
    let credential: PersonCredential
    let device: NewDevice
    let nonce: Secret
    let proof: String
    /// A code of a super user.
    let accessCode: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, credential, device, nonce, proof
        case accessCode = "access_code"
    }

    func check() throws(SchemaViolation) {
        try command(key: nil, from: "unknown").check()
    }

    func command(key: String?, from address: String) -> AddPerson {
        AddPerson(
            account: account.account, credential: credential, device: device, nonce: nonce, proof: proof, accessCode: accessCode,
            idempotencyKey: key, address: address)
    }
}

// MARK: Examples

extension String {
    fileprivate static let exampleKey =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    fileprivate static let exampleProof =
        "9cF4UqmMDdGyUwBd9Lqv0yS7lC2nR1aQkJ5hT8eXoZ6bVpW3gEiHrMxDtKfYsNuPjLQ0A1B2C3D4E5F6G7H8Iw"
}

extension Secret {
    fileprivate static var exampleNonce: Secret { Secret("dGhpcyBpcyBhIG5vbmNl") }
    fileprivate static var exampleIDToken: Secret { Secret("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMTAifQ.c2lnbmF0dXJl") }
}

extension StudentName {
    fileprivate static var exampleStudent: StudentName {
        guard let name = StudentName(example) else { preconditionFailure("\(example) is a student's name") }
        return name
    }
}

extension StudentName: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["minLength": .integer(PersonLimits.minStudentName), "maxLength": .integer(PersonLimits.studentName.max)]
    }
}

extension PersonCredential: HasExample {
    package static var example: PersonCredential { PersonCredential(provider: .google, idToken: .exampleIDToken) }
}

extension NewDevice: HasExample {
    package static var example: NewDevice {
        NewDevice(key: .exampleKey, platform: .web, name: "Firefox on Linux", language: "en", appVersion: "1.1.0")
    }
}

extension DeviceSignIn: HasExample {
    static var example: DeviceSignIn {
        DeviceSignIn(credential: .example, device: .example, nonce: .exampleNonce, proof: .exampleProof)
    }
}

extension Registration: HasExample {
    static var example: Registration {
        Registration(
            account: .exampleStudent, credential: .example, device: .example, nonce: .exampleNonce, proof: .exampleProof,
            accessCode: nil)
    }
}

extension ExchangeDeviceToken: HasExample {
    package static var example: ExchangeDeviceToken {
        ExchangeDeviceToken(device: TopicKey.exampleTopic.subject, nonce: .exampleNonce, proof: .exampleProof)
    }
}

extension Person: HasExample {
    package static var example: Person {
        Person(
            account: .exampleAccount, displayName: nil, role: .student, professor: nil, created: .exampleTime,
            identities: [LinkedIdentity(provider: .google, email: "ann@example.edu", linked: .exampleTime)])
    }
}

extension DeviceSignedIn: HasExample {
    package static var example: DeviceSignedIn {
        DeviceSignedIn(
            person: .example, device: TopicKey.exampleTopic.subject,
            token: Secret("eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIiwidHlwIjoibXNpLWRldmljZStqd3QifQ.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"),
            expires: .exampleTime + PersonLimits.tokenTime)
    }
}

extension OfferedProvider: HasExample {
    package static var example: OfferedProvider {
        OfferedProvider(
            provider: .google, flow: .fragment,
            url:
                "https://accounts.google.com/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=openid%20email",
            token: "id_token", registers: true, needsCode: false)
    }
}
