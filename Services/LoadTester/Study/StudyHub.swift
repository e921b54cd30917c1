import AsyncHTTPClient
import Base
import Crypto
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Schemas

/// A hub to try out, as the apps of students reach it: the gateway, and the identity emulator at which they sign in.
struct StudyHub: Sendable {
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

    /// Registers a person at the identity emulator's Firebase, and signs them in on a new device.
    ///
    /// - Parameter professor: Whether they may create classes.
    /// - Returns: The token of the device, for an hour.
    func signIn(_ account: String, professor: Bool = false) async throws -> String {
        let device = LoadDevice()
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
        guard let token = document["token"]?.string else { throw SetupFailure(description: "PUT /user: there is no token") }
        return token
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

    /// The body of `POST /user` and `PUT /user`.
    func body(with credential: PersonCredential, nonce: Secret) throws -> JSONValue {
        let document = NewDevice(key: key.publicKey.x963Representation.base64URL, platform: .web, name: "msi-load")
        let subject = SHA256.hash(data: Data(credential.provenText.utf8)).hexadecimal
        let text = DeviceProof.text(.signIn, nonce: nonce, subject: subject)
        let proof = try key.signature(for: Data(text.utf8)).rawRepresentation.base64URL
        return [
            "credential": try JSONValue(encoding: credential), "device": try JSONValue(encoding: document),
            "nonce": .string(nonce.text), "proof": .string(proof),
        ]
    }
}
