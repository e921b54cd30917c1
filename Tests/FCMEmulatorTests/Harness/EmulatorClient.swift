import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// All clients of an emulator: a server with an access token, a phone, a test.
struct EmulatorClient: Sendable {
    let port: Int
    let http: HTTPClient

    /// - Parameter folder: The folder of the emulator's certificate.
    static func with<Result>(
        port: Int, folder: String, version: HTTPClient.Configuration.HTTPVersion = .automatic,
        isolation: isolated (any Actor)? = #isolation, _ body: (EmulatorClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file("\(folder)/ca.pem")
        configuration.tlsConfiguration = tls
        configuration.httpVersion = version
        // Long enough for a busy machine.
        configuration.timeout.connect = .seconds(60)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(EmulatorClient(port: port, http: http))
            try await http.shutdown()
            return result
        } catch {
            try await http.shutdown()
            throw error
        }
    }

    struct Answer {
        let status: Int
        let version: HTTPVersion
        let headers: HTTPHeaders
        let text: String

        /// The body as `JSONSerialization` reads it.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }

        /// The members of Google's `error` object.
        var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }
        var errorMessage: String? { error["message"] as? String }
        var errorStatus: String? { error["status"] as? String }
        var details: [[String: Any]] { error["details"] as? [[String: Any]] ?? [] }
        var fcmErrorCode: String? { details.compactMap { $0["errorCode"] as? String }.first }
        var violatedFields: [String] {
            details.flatMap { $0["fieldViolations"] as? [[String: Any]] ?? [] }.compactMap { $0["field"] as? String }
        }
    }

    func call(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await http.execute(request, timeout: .seconds(60))
        let content = try await response.body.collect(upTo: 64 << 20)
        return Answer(
            status: Int(response.status.code), version: response.version, headers: response.headers,
            text: String(buffer: content))
    }

    func call(
        _ method: HTTPMethod, _ path: String, token: String?, _ body: String? = nil
    ) async throws -> Answer {
        try await call(
            method, path, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [], body: body.map { Array($0.utf8) })
    }

    func send(_ body: String, token: String? = "owner", project: String = "msi-emulator") async throws -> Answer {
        try await call(.POST, "/v1/projects/\(project)/messages:send", token: token, body)
    }

    /// - Parameter platform: Android by default.
    func registerPhone(platform: String? = nil) async throws -> String {
        let answer = try await call(.POST, "/emulator/devices", token: nil, platform.map { "{\"platform\":\"\($0)\"}" })
        return answer.json["token"] as? String ?? ""
    }

    @discardableResult
    func subscribe(_ tokens: [String], to topic: String) async throws -> Answer {
        try await batch("batchAdd", tokens, topic)
    }

    @discardableResult
    func unsubscribe(_ tokens: [String], from topic: String) async throws -> Answer {
        try await batch("batchRemove", tokens, topic)
    }

    private func batch(_ method: String, _ tokens: [String], _ topic: String) async throws -> Answer {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return try await call(
            .POST, "/iid/v1:\(method)",
            headers: [("Authorization", "Bearer owner"), ("access_token_auth", "true")],
            body: Array("{\"to\":\"/topics/\(topic)\",\"registration_tokens\":[\(list)]}".utf8))
    }
}
