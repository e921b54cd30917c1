import AsyncHTTPClient
import FoundationEssentials
import HTTPRouting
import Base
import NIOCore
import NIOHTTP1
import TestSupport
import Synchronization

/// A student's phone that is registered at FCM and listens. It reconnects after a broken connection.
final class Phone: Sendable {
    /// One message as FCM's library on the phone passes it to the app.
    struct Event: Hashable, Sendable {
        let id: Int64
        let json: JSONValue

        var msiKey: String { json["data"]?["msi_key"]?.string ?? "" }
        /// The component of the message.
        var component: String { json["notification"] == nil ? "data" : "notification" }
        var delivered: SentComponent { SentComponent(msiKey: msiKey, name: component) }
    }

    /// The phone's registration token.
    let token: String
    private let heard = Mutex<[Event]>([])

    init(token: String) {
        self.token = token
    }

    /// Registers a new phone.
    static func register(at fcm: FCMServer) async throws -> Phone {
        let answer = try await fcm.call(.POST, "/emulator/devices")
        guard answer.status == 201, let token = try answer.json["token"]?.string else { throw UnexpectedAnswer(answer) }
        return Phone(token: token)
    }

    /// All received messages in order, including repeated ones.
    var events: [Event] { heard.withLock { $0 } }

    /// Waits until it has received this many matching events.
    func events(_ count: Int, where counts: (Event) -> Bool = { _ in true }) async throws -> [Event] {
        try await eventually("\(count) events at the phone; it has \(events)") {
            let matching = events.filter(counts)
            return matching.count >= count ? matching : nil
        }
    }

    /// Listens until the task is cancelled. A broken stream is reopened after the last received event.
    func listen(at fcm: FCMServer) async {
        while !Task.isCancelled {
            // The phone retries after any error.
            try? await readStream(of: fcm)
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func readStream(of fcm: FCMServer) async throws {
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(fcm.port)/emulator/devices/\(token)/events")
        if let last = events.last?.id { request.headers.add(name: "Last-Event-ID", value: String(last)) }
        let response = try await fcm.http.execute(request, deadline: .distantFuture)
        guard response.status == .ok else { return }
        var parser = EventStreamParser()
        for try await bytes in response.body {
            for event in parser.receive(bytes.readableBytesView) {
                guard let id = event.id.flatMap({ Int64($0) }) else { continue }
                let json = try JSONValue(parsing: Data(event.data.utf8))
                heard.withLock { $0.append(Event(id: id, json: json)) }
            }
        }
    }
}
