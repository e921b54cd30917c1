package import Base
package import NIOHTTP1
package import Schemas

/// A student who is signed in on a device that a test plays.
package struct TestStudent: Sendable {
    package static let password = "violet-anchor-meadow"

    package let account: String
    package let device: TestDevice
    /// The device's id at the hub.
    package let id: ObjectID
    /// The gateway, with the device's token.
    package let portal: Portal

    private static func credential(_ account: String) -> PersonCredential {
        PersonCredential(provider: .password, account: account, password: Secret(password))
    }

    /// Registers a student, who then signs in. The hub must let anyone register.
    package static func register(
        _ account: String, at portal: Portal, on device: TestDevice = TestDevice()
    ) async throws -> TestStudent {
        let portal = portal.with(token: nil)
        var body = try device.signInBody(with: credential(account), nonce: await nonce(portal))
        body["account"] = .string(account)
        let answer = try await portal.call(.POST, "/user", body)
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        return try await signIn(account, at: portal, on: device)
    }

    /// Signs a student in who has an account with ``password``.
    package static func signIn(
        _ account: String, at portal: Portal, on device: TestDevice = TestDevice()
    ) async throws -> TestStudent {
        let portal = portal.with(token: nil)
        let body = try device.signInBody(with: credential(account), nonce: await nonce(portal))
        let answer = try await portal.call(.PUT, "/user", body)
        guard answer.status == 200, let token = try answer.json["token"]?.string,
            let id = try answer.json["device"]?.string.flatMap({ ObjectID($0) })
        else { throw UnexpectedAnswer(answer) }
        return TestStudent(account: account, device: device, id: id, portal: portal.with(token: token))
    }

    /// The same student with a new token.
    package func renewed() async throws -> TestStudent {
        let answer = try await exchange()
        guard answer.status == 200, let token = try answer.json["token"]?.string else { throw UnexpectedAnswer(answer) }
        return TestStudent(account: account, device: device, id: id, portal: portal.with(token: token))
    }

    /// The answer of `POST /user/token`.
    package func exchange() async throws -> HTTPAnswer {
        let portal = portal.with(token: nil)
        var body = try await proof(.token)
        body["device"] = .string("\(id)")
        return try await portal.call(.POST, "/user/token", body)
    }

    /// The members `nonce` and `proof` of a body.
    package func proof(_ purpose: DeviceProof.Purpose) async throws -> JSONValue {
        let nonce = try await Self.nonce(portal.with(token: nil))
        return [
            "nonce": .string(nonce.text), "proof": .string(try device.proof(purpose, nonce: nonce, subject: "\(id)")),
        ]
    }

    /// A request of the student.
    package func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> HTTPAnswer {
        try await portal.call(method, path, body)
    }

    /// The same student at another gateway.
    package func at(_ other: Portal) -> TestStudent {
        TestStudent(account: account, device: device, id: id, portal: other.with(token: portal.token))
    }

    private static func nonce(_ portal: Portal) async throws -> Secret {
        let answer = try await portal.call(.GET, "/user/challenge")
        guard answer.status == 200, let nonce = try answer.json["nonce"]?.string else { throw UnexpectedAnswer(answer) }
        return Secret(nonce)
    }
}
