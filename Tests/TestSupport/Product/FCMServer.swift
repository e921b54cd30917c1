package import AsyncHTTPClient
package import FoundationEssentials
package import Base
import NIOCore
package import NIOHTTP1

/// A client of the emulator. It subscribes phones to topics through FCM's API, with an access token from the service account's
/// key file, and reads the emulator's control endpoints.
package struct FCMServer: Sendable {
    package let port: Int
    /// The emulator's state directory, with the key file.
    package let folder: String
    package let http: HTTPClient

    /// Long enough for a busy machine.
    private static let requestTimeout = TimeAmount.seconds(60)

    package init(port: Int, folder: String, http: HTTPClient) {
        self.port = port
        self.folder = folder
        self.http = http
    }

    package func call(_ method: HTTPMethod, _ path: String, headers: [String: String] = [:], body: Data? = nil) async throws
        -> HTTPAnswer
    {
        try await http.answer(
            method, "https://127.0.0.1:\(port)\(path)", headers: headers, body: body, within: Self.requestTimeout)
    }

    /// Subscribes a phone to a topic.
    package func subscribe(_ registrationToken: String, to topic: String) async throws {
        try await subscribe([registrationToken], to: topic)
    }

    /// Subscribes phones to a topic.
    ///
    /// - Parameter registrationTokens: At most a thousand.
    package func subscribe(_ registrationTokens: [String], to topic: String) async throws {
        let body: JSONValue = [
            "to": "/topics/\(topic)", "registration_tokens": .array(registrationTokens.map { .string($0) }),
        ]
        let answer = try await call(
            .POST, "/iid/v1:batchAdd",
            headers: ["Authorization": "Bearer \(try await accessToken())", "access_token_auth": "true"], body: body.data)
        let results: JSONValue = .array(registrationTokens.map { _ in [:] })
        guard answer.status == 200, try answer.json == ["results": results] else { throw UnexpectedAnswer(answer) }
    }

    /// The accepted sends to one topic or to all, in order.
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
        let account = try ServiceAccountHolder(file: folder + "/service-account.json")
        let form = ServiceAccountHolder.form(assertion: try await account.sign(account.claims))
        let answer = try await call(
            .POST, "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Data(form.utf8))
        guard answer.status == 200, let token = try answer.json["access_token"]?.string else {
            throw UnexpectedAnswer(answer)
        }
        return token
    }
}
