import AsyncHTTPClient
import FoundationEssentials
package import MobileApp
import NIOCore
import NIOHTTP1

/// A student's app for a terminal. It has no SDK of FCM, and shows what it fetches from the hub.
package struct ExampleApp: Sendable {
    package let app: MobileApp

    /// - Parameters:
    ///   - hub: The hub's address, such as `http://127.0.0.1:8080`.
    ///   - path: The file of the app's database; `nil` for one in memory.
    ///   - show: Called with each message that has arrived.
    package init(hub: String, database path: String?, show: @escaping @Sendable (StoredMessage) -> Void) throws {
        let platform = Platform(
            kind: .android, push: NoPush(), notifications: Terminal(), hub: HTTPHub(address: hub), clock: MachineClock())
        app = MobileApp(platform: platform, database: try AppDatabase(path: path), arrived: show)
    }

    /// Runs until the task is cancelled.
    package func run() async {
        await app.run { error in print("the app tries again: \(error)") }
    }
}

/// HTTP to the hub.
private struct HTTPHub: HubConnection {
    let address: String
    private static let maxAnswerBytes = 16 << 20

    func answer(to request: HubRequest) async throws -> HubAnswer {
        var sent = HTTPClientRequest(url: address + request.path)
        sent.method = HTTPMethod(rawValue: request.method.rawValue)
        for (name, value) in request.headers { sent.headers.add(name: name, value: value) }
        if !request.body.isEmpty {
            sent.headers.add(name: "Content-Type", value: "application/json")
            sent.body = .bytes(ByteBuffer(bytes: request.body))
        }
        let response = try await HTTPClient.shared.execute(sent, timeout: .seconds(10))
        let body = try await response.body.collect(upTo: Self.maxAnswerBytes)
        return HubAnswer(
            status: Int(response.status.code), entityTag: response.headers.first(name: "ETag"), body: Data(body.readableBytesView)
        )
    }
}

/// An app for Android or iOS calls FCM's SDK here.
private struct NoPush: PushService {
    func requestPermission() async throws -> Bool { true }
    func registrationToken() async throws -> String { "none" }
    func subscribe(to topic: String) async throws {}
    func unsubscribe(from topic: String) async throws {}
    func messages() -> AsyncStream<PushMessage> { AsyncStream { _ in } }
}

/// Pop-ups are lines.
private struct Terminal: NotificationDisplay {
    var isAppInForeground: Bool { true }

    func show(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async {
        print("\(notification.title): \(notification.body)")
    }

    func remove(tag: String) async {}
    func delivered() async -> [PushMessage] { [] }
}

/// The machine's clock, in UTC.
private struct MachineClock: DeviceClock {
    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
    func offset(at moment: Int64) -> Int { 0 }
    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
