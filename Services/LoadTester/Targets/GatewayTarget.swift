import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import Schemas
import Synchronization

/// Where the gateway is, and the bearer token for it.
struct GatewayAddress: Sendable {
    /// Without a path.
    let url: String
    let token: String

    func request(_ method: HTTPMethod, _ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        return request
    }
}

/// The gateway as a target. It creates a channel for the load, and removes it at the end.
struct GatewayTarget: LoadTarget {
    private let http: HTTPClient
    private let gateway: GatewayAddress
    private let mix: MessageMix
    private let channel: ObjectID
    private let topics: [Distribution: [TopicKey]]
    private let keys = Keys()

    /// The keys of the accepted messages.
    private final class Keys: Sendable {
        let accepted = Mutex<[String]>([])
    }

    private struct Accepted: Decodable {
        let msiKey: ObjectID

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
        }
    }

    private static let requestTimeout = TimeAmount.seconds(30)

    /// The gateway has refused a preparation of the load.
    struct SetupFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// The keys of the accepted messages.
    var accepted: [String] { keys.accepted.withLock(\.self) }

    /// - Parameter level: The level of the subjects: whether phones subscribe to them by themselves.
    static func make(
        at gateway: GatewayAddress, http: HTTPClient, mix: MessageMix, level: SubscriptionLevel = .optional
    ) async throws -> GatewayTarget {
        let channel: Schemas.Channel = try await create(
            "/channel", NamedDraft(name: "Load test", desc: "Made by msi-load, and removed when it ends"), gateway, http)
        let area: Area = try await create("/area/\(channel.id)", NamedDraft(name: "Load", desc: ""), gateway, http)
        var topics: [Distribution: [TopicKey]] = [:]
        for distribution in Distribution.allCases {
            for number in 0..<mix.topics {
                let draft = SubjectDraft(
                    name: "\(distribution.rawValue) \(number)", desc: "",
                    opt: SubjectOptions(level: level, distribution: distribution))
                let subject: Subject = try await create("/subject/\(channel.id)/\(area.id)", draft, gateway, http)
                topics[distribution, default: []].append(subject.topicKey)
            }
        }
        return GatewayTarget(http: http, gateway: gateway, mix: mix, channel: channel.id, topics: topics)
    }

    func send(_ index: Int) async -> [String]? {
        let sample = mix.sample(index)
        guard let topic = topics[sample.distribution]?[sample.topic] else { return ["no topic"] }
        let draft = MessageDraft(
            title: "Message \(index)", desc: sample.distribution == .alert ? "A load test" : "", message: sample.text,
            topicKey: topic, distribution: sample.distribution)
        do {
            let response = try await Self.post("/message", draft, gateway, http)
            // The body is read to its end, so that the connection can be reused.
            let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            guard response.status == .created else { return ["http \(response.status.code)"] }
            let message: Accepted = try JSONCoder.decode(from: body)
            keys.accepted.withLock { $0.append("\(message.msiKey)") }
            return nil
        } catch let error as HTTPClientError {
            return ["connection \(error.shortDescription)"]
        } catch {
            return ["connection"]
        }
    }

    /// Removes the load's channel from the cube. The messages stay in the archive.
    func removeChannel() async throws {
        _ = try await http.execute(gateway.request(.DELETE, "/channel/\(channel)"), timeout: Self.requestTimeout)
    }

    private static func create<Made: Decodable>(
        _ path: String, _ draft: some Encodable, _ gateway: GatewayAddress, _ http: HTTPClient
    ) async throws -> Made {
        let response = try await post(path, draft, gateway, http)
        let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        guard response.status == .created else {
            throw SetupFailure(description: "\(path): \(response.status) \(String(decoding: body.prefix(300), as: UTF8.self))")
        }
        return try JSONCoder.decode(from: body)
    }

    private static func post(
        _ path: String, _ document: some Encodable, _ gateway: GatewayAddress, _ http: HTTPClient
    ) async throws -> HTTPClientResponse {
        var request = gateway.request(.POST, path)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(try JSONCoder.encode(document))
        return try await http.execute(request, timeout: requestTimeout)
    }
}
