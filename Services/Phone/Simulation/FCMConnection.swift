import AsyncHTTPClient
import FoundationEssentials
import HTTPRouting
import Base
import MobileApp
import NIOCore
import NIOHTTP1

/// A phone's requests to the FCM emulator (Services/FCMEmulator/API.md).
struct FCMConnection: Sendable {
    let url: String
    let network: Network

    /// Registers a new phone.
    ///
    /// - Returns: The registration token.
    func register(_ platform: PhoneControl.System) async throws -> String {
        let answer = try await call(.POST, "/emulator/devices", ["platform": .string(platform.rawValue)])
        guard let token = answer["token"]?.string else { throw Network.Failure(description: "FCM gave no token") }
        return token
    }

    /// Ends a registration. Succeeds if FCM does not know it.
    func unregister(_ token: String) async throws {
        let answer = try await network.answer(.DELETE, "\(url)/emulator/devices/\(token)")
        guard [204, 404].contains(answer.status) else { throw Network.Failure(description: "FCM answers \(answer.status)") }
    }

    enum Change: String, Sendable {
        case subscribe = "batchAdd"
        case unsubscribe = "batchRemove"
    }

    func perform(_ change: Change, _ token: String, _ topic: String) async throws {
        let body: JSONValue = ["to": .string("/topics/\(topic)"), "registration_tokens": [.string(token)]]
        let answer = try await call(.POST, "/iid/v1:\(change.rawValue)", body)
        guard let error = answer["results"]?.elements?.first?["error"]?.string else { return }
        throw Network.Failure(description: "FCM: \(error)")
    }

    /// Passes each event of the phone's stream, until the stream or the task ends.
    ///
    /// - Throws: ``UnknownToken`` if FCM does not know the registration, or the error of the connection.
    func listen(_ token: String, opened: () -> Void, _ receive: (JSONValue) async -> Void) async throws {
        let request = HTTPClientRequest(url: "\(url)/emulator/devices/\(token)/events")
        let response = try await network.http.execute(request, deadline: .distantFuture)
        guard response.status != .notFound else { throw UnknownToken() }
        guard response.status == .ok else { throw Network.Failure(description: "FCM answers \(response.status)") }
        opened()
        var parser = EventStreamParser()
        for try await bytes in response.body {
            for event in parser.receive(bytes.readableBytesView) {
                await receive(try JSONValue(parsing: Data(event.data.utf8)))
            }
        }
    }

    /// FCM does not know the registration, for example after the emulator's data was removed.
    struct UnknownToken: Error {}

    private func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue) async throws -> JSONValue {
        // As the emulator's administrator. The SDK on a real phone uses another API.
        let headers = ["Authorization": "Bearer owner", "access_token_auth": "true"]
        let answer = try await network.answer(method, url + path, headers: headers, body: body.data)
        guard (200..<300).contains(answer.status) else { throw Network.Failure(description: "FCM answers \(answer.status)") }
        return try JSONValue(parsing: answer.body)
    }
}
