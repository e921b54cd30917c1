import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// All clients of an emulator: a server with an access token, a phone, a test.
struct EmulatorClient: Sendable {
    let port: Int
    /// The emulator's state directory.
    let folder: TemporaryFolder
    let http: HTTPClient

    static func with<Result>(
        port: Int, folder: TemporaryFolder, version: HTTPClient.Configuration.HTTPVersion = .automatic,
        isolation: isolated (any Actor)? = #isolation, _ body: (EmulatorClient) async throws -> Result
    ) async throws -> Result {
        try await withHTTPClient(trusting: "\(folder.emulator)/ca.pem", version: version) { http in
            try await body(EmulatorClient(port: port, folder: folder, http: http))
        }
    }

    func call(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> HTTPAnswer {
        try await http.answer(
            method, "https://127.0.0.1:\(port)\(path)", headers: HTTPHeaders(headers), body: body.map { Data($0) },
            within: .seconds(60))
    }

    /// - Parameter token: An access token. The header that the Instance ID API wants beside it is sent as well.
    func call(
        _ method: HTTPMethod, _ path: String, token: String?, _ body: String? = nil
    ) async throws -> HTTPAnswer {
        let headers = token.map { [("Authorization", "Bearer \($0)"), ("access_token_auth", "true")] } ?? []
        return try await call(method, path, headers: headers, body: body.map { Array($0.utf8) })
    }

    func send(_ body: String, token: String? = "owner", project: String = "msi-emulator") async throws -> HTTPAnswer {
        try await call(.POST, "/v1/projects/\(project)/messages:send", token: token, body)
    }

    /// - Parameter platform: Android by default.
    func registerPhone(platform: String? = nil) async throws -> String {
        let answer = try await call(.POST, "/emulator/devices", token: nil, platform.map { "{\"platform\":\"\($0)\"}" })
        return answer.object["token"] as? String ?? ""
    }

    @discardableResult
    func subscribe(_ tokens: [String], to topic: String) async throws -> HTTPAnswer {
        try await batch("batchAdd", tokens, topic)
    }

    @discardableResult
    func unsubscribe(_ tokens: [String], from topic: String) async throws -> HTTPAnswer {
        try await batch("batchRemove", tokens, topic)
    }

    private func batch(_ method: String, _ tokens: [String], _ topic: String) async throws -> HTTPAnswer {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return try await call(
            .POST, "/iid/v1:\(method)", token: "owner", "{\"to\":\"/topics/\(topic)\",\"registration_tokens\":[\(list)]}")
    }
}

extension EmulatorClient {
    /// Replaces the rules of fault injection.
    @discardableResult
    func fault(_ rules: String..., seed: Int = 1) async throws -> HTTPAnswer {
        try await call(
            .PUT, "/emulator/faults", token: nil, "{\"seed\":\(seed),\"rules\":[\(rules.joined(separator: ","))]}")
    }

    /// The number of hits of each rule.
    func faultHits() async throws -> [Int] {
        let rules = try await call(.GET, "/emulator/faults", token: nil).object["rules"] as? [[String: Any]] ?? []
        return rules.compactMap { $0["hits"] as? Int }
    }

    /// The topics of the accepted sends, in order.
    func acceptedTopics() async throws -> [String] {
        let text = try await call(.GET, "/emulator/messages", token: nil).text
        let list = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        return list.compactMap { (($0["body"] as? [String: Any])?["message"] as? [String: Any])?["topic"] as? String }
    }
}

extension HTTPAnswer {
    /// The members of Google's `error` object.
    var error: [String: Any] { object["error"] as? [String: Any] ?? [:] }
    var errorMessage: String? { error["message"] as? String }
    var errorStatus: String? { error["status"] as? String }
    var details: [[String: Any]] { error["details"] as? [[String: Any]] ?? [] }
    var fcmErrorCode: String? { details.compactMap { $0["errorCode"] as? String }.first }
    var violatedFields: [String] {
        details.flatMap { $0["fieldViolations"] as? [[String: Any]] ?? [] }.compactMap { $0["field"] as? String }
    }
}
