import AsyncHTTPClient
import FoundationEssentials
import HTTPRouting
import Base
import NIOCore
import NIOHTTP1
import NIOSSL
import Schemas
import ServiceKit

/// A phone at the local FCM emulator (Services/FCMEmulator/API.md).
struct EmulatedPhone: Sendable {
    private let http: HTTPClient
    private let url: String
    private let token: String

    private static let timeout = TimeAmount.seconds(10)
    private static let reconnectPause = Duration.seconds(1)

    /// Registers a phone for the time of a body.
    ///
    /// - Throws: ``GatewayFailure``, or the body's error.
    static func with(_ access: EmulatorAccess, _ body: (EmulatedPhone) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(access.certificateFile)
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = .seconds(5)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let registered = try await call(http, .POST, access.url + "/emulator/devices")
            guard let token = registered["token"]?.string else { throw GatewayFailure(.unreachable, "the phone has no token") }
            let phone = EmulatedPhone(http: http, url: access.url, token: token)
            do {
                try await body(phone)
                try await phone.unregister()
            } catch {
                try? await phone.unregister()
                throw error
            }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// - Throws: ``GatewayFailure``.
    func subscribe(to topic: TopicKey) async throws {
        let body: JSONValue = ["to": .string("/topics/\(topic)"), "registration_tokens": [.string(token)]]
        _ = try await Self.call(http, .POST, url + "/iid/v1:batchAdd", body)
    }

    private func unregister() async throws {
        _ = try await Self.call(http, .DELETE, url + "/emulator/devices/\(token)")
    }

    /// Passes the text of each received message, until the task is cancelled. A broken connection is opened again.
    func listen(_ show: @Sendable (String) -> Void) async {
        while !Task.isCancelled {
            try? await readEvents(show)
            try? await Task.sleep(for: Self.reconnectPause)
        }
    }

    private func readEvents(_ show: @Sendable (String) -> Void) async throws {
        let request = HTTPClientRequest(url: url + "/emulator/devices/\(token)/events")
        let response = try await http.execute(request, deadline: .distantFuture)
        var parser = EventStreamParser()
        for try await bytes in response.body {
            for event in parser.receive(bytes.readableBytesView) {
                show(try Self.text(of: JSONValue(parsing: Data(event.data.utf8))))
            }
        }
    }

    /// A received message, as a phone shows it.
    private static func text(of event: JSONValue) -> String {
        let (kind, part, body) =
            if let notification = event["notification"] {
                ("notification", notification, "body")
            } else {
                ("message", event["data"] ?? .null, "message")
            }
        let (title, content) = (part["title"]?.string ?? "", part[body]?.string ?? "")
        let texts = title == content ? [title] : [title, content]
        let lines = texts.flatMap { $0.split(whereSeparator: \.isNewline) }.map { String($0).withoutControlCharacters }
        return "\(kind): " + lines.joined(separator: "\n  ")
    }

    private static func call(
        _ http: HTTPClient, _ method: HTTPMethod, _ url: String, _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        do {
            var request = HTTPClientRequest(url: url)
            request.method = method
            // The emulator's administrator.
            request.headers = ["Authorization": "Bearer owner", "access_token_auth": "true"]
            if let body { request.body = .bytes(ByteBuffer(bytes: try JSONCoder.encode(body))) }
            let response = try await http.execute(request, timeout: timeout)
            let answer = try await response.body.collect(upTo: 1 << 20)
            guard (200..<300).contains(response.status.code) else {
                throw GatewayFailure(.unreachable, "the FCM emulator at \(url) answers \(response.status)")
            }
            return answer.readableBytes == 0 ? .null : try JSONValue(parsing: Data(answer.readableBytesView))
        } catch let error as GatewayFailure {
            throw error
        } catch {
            throw GatewayFailure(.unreachable, "the FCM emulator at \(url) does not answer; `deploy/run` starts it")
        }
    }
}
