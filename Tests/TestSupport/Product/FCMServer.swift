package import AsyncHTTPClient
package import FoundationEssentials
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
