import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import Schemas

/// What the canary uses of the hub.
protocol Hub: Sendable {
    /// Posts a message.
    ///
    /// - Parameter ttl: The message's time to live.
    /// - Returns: Its `msi_key`, once it is stored.
    func post(_ text: String, ttl: Duration) async throws -> ObjectID

    /// A message's progress.
    func progress(of msiKey: ObjectID) async throws -> Progress
}

/// A message's progress towards a phone.
struct Progress: Hashable, Sendable {
    var state: RelayState
    /// Whether a phone has reported it.
    var isReceived = false

    /// Whether it can no longer reach FCM.
    var hasFailed: Bool { [.failed, .expired, .recalled].contains(state) }
}

/// Why a request to the hub failed.
struct HubFailure: Error, Hashable, CustomStringConvertible {
    let description: String
    /// The status of the gateway's answer, if it has answered.
    var status: UInt?
}

/// The hub through the gateway's HTTP API, with the canary's token.
struct GatewayHub: Hub {
    let http: HTTPClient
    let url: String
    let token: Secret
    let topic: TopicKey

    private static let timeout = TimeAmount.seconds(10)
    private static let maxAnswerBytes = 1 << 20

    private struct Accepted: Decodable {
        let msiKey: ObjectID

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
        }
    }

    private struct Stored: Decodable {
        struct Relay: Decodable {
            let state: RelayState
        }

        struct Receipts: Decodable {
            let received: Int
        }

        let relay: Relay
        let receipts: Receipts?
    }

    func post(_ text: String, ttl: Duration) async throws -> ObjectID {
        let draft = MessageContent(
            title: "Canary", desc: "", message: text, topicKey: topic, distribution: .information,
            ttl: Seconds(rawValue: ttl.components.seconds))
        let accepted: Accepted = try await answer(.POST, "/message", try JSONCoder.encode(draft))
        return accepted.msiKey
    }

    func progress(of msiKey: ObjectID) async throws -> Progress {
        let stored: Stored = try await answer(.GET, "/message/\(msiKey)")
        return Progress(state: stored.relay.state, isReceived: (stored.receipts?.received ?? 0) > 0)
    }

    private func answer<Value: Decodable>(_ method: HTTPMethod, _ path: String, _ body: Data? = nil) async throws -> Value {
        try await answer(method, path, body, by: token)
    }

    /// - Parameter bearer: The token of the header `Authorization`.
    func answer<Value: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: Data?, by bearer: Secret?
    ) async throws -> Value {
        let content = try await content(method, path, body, by: bearer)
        do {
            return try JSONCoder.decode(Value.self, from: content)
        } catch {
            throw HubFailure(description: "the gateway's answer to \(method) \(path) is not understood")
        }
    }

    /// The body of the answer to a request.
    func content(_ method: HTTPMethod, _ path: String, _ body: Data?, by bearer: Secret?) async throws -> Data {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer.text)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response: HTTPClientResponse
        let content: Data
        do {
            response = try await http.execute(request, timeout: Self.timeout)
            content = Data(try await response.body.collect(upTo: Self.maxAnswerBytes).readableBytesView)
        } catch {
            let reason = (error as? HTTPClientError)?.shortDescription ?? "the connection failed"
            throw HubFailure(description: "the gateway at \(url) does not answer: \(reason)")
        }
        guard (200..<300).contains(response.status.code) else {
            let detail = (try? JSONCoder.decode(ProblemText.self, from: content))?.detail
            throw HubFailure(
                description: "the gateway answers \(response.status.code)" + (detail.map { ": \($0.prefix(300))" } ?? ""),
                status: response.status.code)
        }
        return content
    }

    private struct ProblemText: Decodable {
        let detail: String?
    }
}
