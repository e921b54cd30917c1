import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import Schemas
import ServiceKit
import Synchronization

/// `msi-load gateway`: loads the whole product over HTTP.
struct GatewayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Posts messages to the gateway, like a portal.",
        discussion: """
            It creates a channel with subjects to post to, and removes it at the end. The messages stay in the archive.

            With --phones the load also counts at the phones: it runs msi-phone fleet beside the load, with the settings of its \
            environment. The subjects are Forced, so that the phones subscribe. At the end the phones fetch what they miss, and the \
            report says what they have, and how long it took from the post. The exit status is 1 unless each phone has each accepted \
            message, once. The phones take a part of this machine's time. They are at the FCM emulator that deploy/run starts: real \
            phones would subscribe, too, so it does not work with a hub of real FCM.
            """)

    @Option(help: "The gateway's URL. Without it, http://127.0.0.1 at MSI_GATEWAY_PORT.")
    var url: String?

    @Option(help: "A file with a bearer token that may send and administer. Without it, the file token in MSI_STATE_DIR.")
    var tokenFile: String?

    @Option(help: "How many phones receive the load, and count it; 0 for none.")
    var phones = 0

    @OptionGroup var load: LoadOptions

    func validate() throws {
        guard (0...30_000).contains(phones) else { throw ValidationError("--phones: expected 0 to 30000 phones") }
    }

    func run() async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let url = try self.url ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        try LoopbackRule.check(url, isRemoteAllowed: load.allowRemote)
        if phones > 0 { try Self.checkEmulator(of: url, settings) }
        let token = try Self.token(in: self.tokenFile ?? settings.value(.stateDirectory) + "/token")
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.inFlight
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let target = try await GatewayTarget.make(
                at: GatewayAddress(url: url, token: token), http: http, mix: load.mix, level: phones > 0 ? .forced : .optional)
            let outcome: Result<Bool, any Error>
            do {
                outcome = .success(try await run(target, url: url))
            } catch {
                outcome = .failure(error)
            }
            try await target.removeChannel()
            let isWell = try outcome.get()
            if !isWell { throw ExitCode.failure }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// - Returns: Whether the load went well.
    private func run(_ target: GatewayTarget, url: String) async throws -> Bool {
        guard phones > 0 else { return await load.run("gateway", target) }
        return try await PhoneFleet.with(phones, gateway: url) { [load] fleet in
            await load.run("gateway", target) { try await fleet.report(accepted: target.accepted) }
        }
    }

    /// Real phones must not get the load.
    private static func checkEmulator(of url: String, _ settings: SettingValues) throws {
        try LoopbackRule.check(url, isRemoteAllowed: false)
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        guard try settings.optional(.fcmServiceAccountFile) == nil,
            FileManager.default.fileExists(atPath: emulator.certificateFile)
        else {
            throw ValidationError(
                "--phones: the phones need the FCM emulator of deploy/run; \(emulator.certificateFile) is not there, or "
                    + "\(Setting.fcmServiceAccountFile.declaration.name) is set")
        }
    }

    static func token(in file: String) throws -> String {
        do {
            return String(try String(contentsOfFile: file, encoding: .utf8).prefix { !$0.isWhitespace })
        } catch {
            throw ValidationError("--token-file: \(file) cannot be read: \(error)")
        }
    }
}

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
        do {
            let response = try await Self.post("/message", sample.content(index, to: topic), gateway, http)
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
