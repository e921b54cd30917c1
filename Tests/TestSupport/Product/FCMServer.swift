package import AsyncHTTPClient
package import FoundationEssentials
import JWTKit
import NIOCore
package import NIOHTTP1

/// Firebase as the university's own server sees it, beside the relay: it subscribes phones to topics, with a token that
/// the service account's key file earns it. And the emulator's own doors, for what a test wants to know.
package struct FCMServer: Sendable {
    package let port: Int
    /// The emulator's state directory, with the key file.
    package let folder: String
    package let http: HTTPClient

    /// For a machine that does much else at once.
    private static let patience = TimeAmount.seconds(60)

    package init(port: Int, folder: String, http: HTTPClient) {
        self.port = port
        self.folder = folder
        self.http = http
    }

    private struct KeyFile: Decodable {
        let clientEmail: String
        let tokenURI: String
        let privateKey: String

        private enum CodingKeys: String, CodingKey {
            case clientEmail = "client_email"
            case tokenURI = "token_uri"
            case privateKey = "private_key"
        }
    }

    private struct Claims: JWTPayload {
        let iss: String
        let scope = "https://www.googleapis.com/auth/firebase.messaging"
        let aud: String
        let iat: Int
        let exp: Int

        private enum CodingKeys: CodingKey {
            case iss, scope, aud, iat, exp
        }

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    package func call(_ method: HTTPMethod, _ path: String, headers: [String: String] = [:], body: Data? = nil) async throws
        -> HTTPAnswer
    {
        try await http.answer(
            method, "https://127.0.0.1:\(port)\(path)", headers: headers, body: body, within: Self.patience)
    }

    /// Subscribes a phone to a topic.
    package func subscribe(_ registrationToken: String, to topic: String) async throws {
        let body: JSONValue = ["to": "/topics/\(topic)", "registration_tokens": ["\(registrationToken)"]]
        let answer = try await call(
            .POST, "/iid/v1:batchAdd",
            headers: ["Authorization": "Bearer \(try await accessToken())", "access_token_auth": "true"], body: body.data)
        guard answer.status == 200, try answer.json == ["results": [[:]]] else { throw UnexpectedAnswer(answer) }
    }

    /// Every send to a topic, or to any, that was accepted, in order.
    package func acceptedSends(to topic: String? = nil) async throws -> [JSONValue] {
        try JSONValue(parsing: try await archive(of: topic)).array
    }

    /// `GET /emulator/messages`.
    func archive(of topic: String?) async throws -> Data {
        let answer = try await call(.GET, "/emulator/messages" + (topic.map { "?topic=\($0)" } ?? ""))
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return answer.body
    }

    private func accessToken() async throws -> String {
        let file = try JSONDecoder().decode(
            KeyFile.self, from: try Data(contentsOf: URL(filePath: folder + "/service-account.json")))
        let now = Int(Date().timeIntervalSince1970)
        let keys = JWTKeyCollection()
        await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: file.privateKey), digestAlgorithm: .sha256)
        let assertion = try await keys.sign(
            Claims(iss: file.clientEmail, aud: file.tokenURI, iat: now, exp: now + 3_600))
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let answer = try await call(
            .POST, "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Data(form.utf8))
        guard answer.status == 200, let token = try answer.json["access_token"]?.string else {
            throw UnexpectedAnswer(answer)
        }
        return token
    }
}
