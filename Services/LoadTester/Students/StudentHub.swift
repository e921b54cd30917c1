import AsyncHTTPClient
import Base
import Crypto
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Schemas

/// A hub to try out, as the apps of students reach it: the gateway, and the identity emulator at which they sign in.
struct StudentHub: Sendable {
    /// With the operator's token, which gives professors their mark.
    let gateway: GatewayAddress
    let identityEmulator: String
    let http: HTTPClient

    /// An answer of the gateway.
    struct Answer: Sendable {
        let status: UInt
        /// Empty without a document.
        let document: JSONValue
    }

    /// The hub has refused a preparation of the load.
    struct SetupFailure: Error, CustomStringConvertible {
        let description: String
    }

    private static let timeout = TimeAmount.seconds(30)
    private static let maxBody = 4 << 20

    // MARK: Requests

    /// A request with the token of a device; without a token it is anonymous.
    func ask(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, token: String?, key: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: gateway.url + path)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        return try await answer(to: request, body)
    }

    private func answer(to request: HTTPClientRequest, _ body: JSONValue?) async throws -> Answer {
        var request = request
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body.data)
        }
        let response = try await http.execute(request, timeout: Self.timeout)
        // The body is read to its end, so that the connection can be reused.
        let bytes = Data(try await response.body.collect(upTo: Self.maxBody).readableBytesView)
        return Answer(status: response.status.code, document: (try? JSONValue(parsing: bytes)) ?? [:])
    }

    /// A request of a preparation.
    ///
    /// - Throws: ``SetupFailure`` for any other status.
    private func require(_ status: UInt, _ what: String, _ answer: Answer) throws -> JSONValue {
        guard answer.status == status else {
            let reason = answer.document["detail"]?.string ?? answer.document.text
            throw SetupFailure(description: "\(what): \(answer.status) \(reason.prefix(300))")
        }
        return answer.document
    }

    // MARK: Persons

    /// The device of a person who is signed in.
    struct SignedIn: Sendable {
        let device: String
        /// For an hour.
        let token: String
    }

    /// Registers a person at the identity emulator's Firebase, and signs them in on a new device.
    ///
    /// - Parameters:
    ///   - professor: Whether they may create classes.
    ///   - phone: The registration token by which FCM reaches the device; `nil` for a browser without pushes.
    func signIn(_ account: String, professor: Bool = false, phone: String? = nil) async throws -> SignedIn {
        let device = LoadDevice(platform: phone == nil ? .web : .android)
        let credential = PersonCredential(provider: .firebase, idToken: try await idToken(of: account))
        var body = try device.body(with: credential, nonce: await nonce())
        body["account"] = .string(account)
        _ = try require(201, "POST /user", await ask(.POST, "/user", body, token: nil))
        if professor {
            let request = gateway.request(.PUT, "/account/\(account)")
            _ = try require(200, "PUT /account/\(account)", await answer(to: request, ["professor": true]))
        }
        let signIn = try device.body(with: credential, nonce: await nonce())
        let document = try require(200, "PUT /user", await ask(.PUT, "/user", signIn, token: nil))
        guard let token = document["token"]?.string, let id = document["device"]?.string else {
            throw SetupFailure(description: "PUT /user: there is no token")
        }
        if let phone {
            let path = "/user/devices/\(id)"
            let registration: JSONValue = ["fcm_token": .string(phone), "language": "en"]
            _ = try require(200, path, await ask(.PUT, path, registration, token: token))
        }
        return SignedIn(device: id, token: token)
    }

    /// Makes two persons friends.
    func befriend(_ one: (account: String, token: String), _ other: (account: String, token: String)) async throws {
        for (person, friend) in [(one, other), (other, one)] {
            let body: JSONValue = ["account": .string(friend.account)]
            _ = try require(200, "/user/friends", await ask(.POST, "/user/friends", body, token: person.token))
        }
    }

    private func idToken(of account: String) async throws -> Secret {
        var request = HTTPClientRequest(url: identityEmulator + "/control/token")
        request.method = .POST
        let answer: Answer
        do {
            answer = try await self.answer(to: request, ["provider": "firebase", "sub": .string(account)])
        } catch {
            throw SetupFailure(
                description: "the students sign in at the identity emulator of a hub to try out, and none answers at "
                    + "\(identityEmulator): \(error)")
        }
        let document = try require(200, "the identity emulator", answer)
        guard let token = document["token"]?.string else {
            throw SetupFailure(description: "the identity emulator gives no token")
        }
        return Secret(token)
    }

    private func nonce() async throws -> Secret {
        let path = "/user/challenge"
        let document = try require(200, path, await ask(.GET, path, token: nil))
        guard let nonce = document["nonce"]?.string else { throw SetupFailure(description: "\(path): there is no nonce") }
        return Secret(nonce)
    }

    // MARK: Classes

    /// A class, and the key with which students join it.
    struct MadeClass: Sendable {
        let id: String
        let key: String
        /// The token of its professor's device.
        let professor: String
    }

    func makeClass(_ name: String, by professor: String) async throws -> MadeClass {
        let draft: JSONValue = ["name": "Load test", "identification_key": .string(name)]
        let made = try require(201, "POST /class", await ask(.POST, "/class", draft, token: professor))
        guard let id = made["id"]?.string else { throw SetupFailure(description: "POST /class: there is no id") }
        let path = "/classes/\(id)/keys"
        let key = try require(201, path, await ask(.POST, path, ["role": "student"], token: professor))
        guard let code = key["code"]?.string else { throw SetupFailure(description: "\(path): there is no code") }
        return MadeClass(id: id, key: code, professor: professor)
    }

    func join(_ made: MadeClass, token: String) async throws {
        let path = "/user/classes"
        _ = try require(201, path, await ask(.POST, path, ["key": .string(made.key)], token: token))
    }

    /// Closes a class: its sessions end, and nobody joins it.
    func close(_ made: MadeClass) async throws {
        _ = try await ask(.PUT, "/classes/\(made.id)", ["closed": true], token: made.professor)
    }
}

/// A device that the load plays: a key that signs what the hub asks for.
struct LoadDevice: Sendable {
    private let key = P256.Signing.PrivateKey()
    let platform: DevicePlatform

    /// The body of `POST /user` and `PUT /user`.
    func body(with credential: PersonCredential, nonce: Secret) throws -> JSONValue {
        let document = NewDevice(key: key.publicKey.x963Representation.base64URL, platform: platform, name: "msi-load")
        let subject = SHA256.hash(data: Data(credential.provenText.utf8)).hexadecimal
        let text = DeviceProof.text(.signIn, nonce: nonce, subject: subject)
        let proof = try key.signature(for: Data(text.utf8)).rawRepresentation.base64URL
        return [
            "credential": try JSONValue(encoding: credential), "device": try JSONValue(encoding: document),
            "nonce": .string(nonce.text), "proof": .string(proof),
        ]
    }
}

extension StudentHub {
    /// How many persons a preparation is about at once.
    private static let atOnce = 32

    /// Runs a body for several indices, some at once, and returns the results in the order of the indices.
    static func concurrently<Result: Sendable>(
        _ indices: some Sequence<Int>, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        let all = Array(indices)
        return try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            var running = 0
            for index in all {
                if running == atOnce, let (done, result) = try await group.next() {
                    results[done] = result
                    running -= 1
                }
                group.addTask {
                    let result = try await body(index)
                    return (index, result)
                }
                running += 1
            }
            for try await (done, result) in group { results[done] = result }
            return all.compactMap { results[$0] }
        }
    }

    /// A generator for a step of one of the students.
    static func generator(_ seed: UInt64, _ index: Int, _ step: Int) -> SeededGenerator {
        let place = UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: step)
        return SeededGenerator(seed: seed &+ place &* 0xD134_2543_DE82_EF95)
    }

    /// A beginning of names that were never given: those of accounts and of classes are never given again.
    static func newPrefix() -> String { "load-" + String(UInt32.random(in: .min ... .max), radix: 36) }

    /// What an answer that never came is counted as.
    static func kind(of error: any Error) -> String {
        (error as? HTTPClientError).map { "connection \($0.shortDescription)" } ?? "connection"
    }
}
