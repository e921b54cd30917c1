import Base
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// A person who is signed in on a device: it sends the device's token.
struct DeviceSession: Sendable {
    let gateway: RunningGateway
    let account: String
    let key: TestDevice
    /// The device's id.
    let device: ObjectID
    let token: String

    func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: JSONValue? = nil
    ) async throws -> HTTPAnswer {
        try await gateway.with(token: token).request(
            method, target, headers: headers, body: body.map { String(decoding: $0.data, as: UTF8.self) })
    }

    /// Asks for another token by the device's key.
    func exchange() async throws -> HTTPAnswer {
        let nonce = try await gateway.nonce()
        let proof = try key.proof(.token, nonce: nonce, subject: "\(device)")
        return try await gateway.with(token: nil).send(
            "POST", "/user/token", ["device": .string("\(device)"), "nonce": .string(nonce.text), "proof": .string(proof)])
    }

    /// The same device with another token.
    func refreshed() async throws -> DeviceSession {
        let answer = try await exchange()
        #expect(answer.status == 200, "\(answer)")
        let token = try #require(answer.object["token"] as? String)
        return DeviceSession(gateway: gateway, account: account, key: key, device: device, token: token)
    }

    /// The two are friends afterwards.
    func befriend(_ other: DeviceSession) async throws {
        let asked = try await request("POST", "/user/friends", body: ["account": .string(other.account)])
        #expect(asked.status == 200, "\(asked)")
        let accepted = try await other.request("PUT", "/user/friends/\(account)", body: ["accept": true])
        #expect(accepted.status == 204, "\(accepted)")
    }
}

extension PersonCredential {
    static func password(_ account: String, _ password: String = RunningGateway.password) -> PersonCredential {
        PersonCredential(provider: .password, account: account, password: Secret(password))
    }
}

extension RunningGateway {
    /// Settings of the people service: a university's provider, at which nobody signs in.
    static let someProvider = ["MSI_OIDC_ISSUER": "http://127.0.0.1:9", "MSI_OIDC_CLIENT_ID": "test"]

    func send(_ method: String, _ target: String, headers: [String: String] = [:], _ body: JSONValue) async throws -> HTTPAnswer {
        try await request(method, target, headers: headers, body: String(decoding: body.data, as: UTF8.self))
    }

    /// A nonce for a device to sign.
    func nonce() async throws -> Secret {
        let answer = try await with(token: nil).requestUntilTaken("GET", "/user/challenge")
        return Secret(try #require(answer.object["nonce"] as? String, "\(answer)"))
    }

    /// Registers a student by account name and password.
    func register(
        _ account: String, on key: TestDevice, _ credential: PersonCredential? = nil, headers: [String: String] = [:],
        changing fields: JSONValue = [:]
    ) async throws -> HTTPAnswer {
        let body = try key.signInBody(with: credential ?? .password(account), nonce: try await nonce())
        return try await with(token: nil).send(
            "POST", "/user", headers: headers, body.merging(["account": .string(account)]).merging(fields))
    }

    /// Signs in on a device.
    func signIn(
        on key: TestDevice, _ credential: PersonCredential, changing fields: JSONValue = [:]
    ) async throws -> HTTPAnswer {
        let body = try key.signInBody(with: credential, nonce: try await nonce())
        return try await with(token: nil).send("PUT", "/user", body.merging(fields))
    }

    /// A registered person who is signed in on a device.
    func session(_ account: String, on key: TestDevice = TestDevice()) async throws -> DeviceSession {
        let answer = try await signIn(on: key, .password(account))
        #expect(answer.status == 200, "\(answer)")
        let device = try #require((answer.object["device"] as? String).flatMap { ObjectID($0) })
        let token = try #require(answer.object["token"] as? String)
        return DeviceSession(gateway: self, account: account, key: key, device: device, token: token)
    }

    /// Registers a student, and signs in on a device.
    func person(_ account: String, on key: TestDevice = TestDevice()) async throws -> DeviceSession {
        let registered = try await register(account, on: key)
        #expect(registered.status == 201, "\(registered)")
        return try await session(account, on: key)
    }
}
