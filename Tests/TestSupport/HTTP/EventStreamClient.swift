package import AsyncHTTPClient
import Foundation
import HTTPRouting
package import Base
import NIOCore
import NIOHTTP1
import Synchronization

/// A client of server-sent events that records what it receives.
package final class EventStreamClient: Sendable {
    package struct Event: Hashable, Sendable {
        package let name: String
        package let data: JSONValue
    }

    private struct State {
        var status: Int?
        var events: [Event] = []
        /// The first bytes, up to the length of ``retry``.
        var start: [UInt8] = []
        var parser = EventStreamParser()
        var hasEnded = false
    }

    private static let retry = Array("retry: ".utf8)

    private let state = Mutex(State())

    /// The status of the answer; `nil` before it.
    package var status: Int? { state.withLock { $0.status } }
    package var events: [Event] { state.withLock { $0.events } }
    package var lastEventID: String? { state.withLock { $0.parser.lastID } }
    /// Whether the server has begun with the time after which the client is to reconnect.
    package var beginsWithRetry: Bool { state.withLock { $0.start == Self.retry } }
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The data of all events of a name.
    package func events(_ name: String) -> [JSONValue] {
        events.filter { $0.name == name }.map(\.data)
    }

    /// Runs a body with a stream that has begun.
    package static func with<Value: Sendable>(
        _ url: String, headers: [String: String] = [:], http: HTTPClient, isolation: isolated (any Actor)? = #isolation,
        _ body: (EventStreamClient) async throws -> Value
    ) async throws -> Value {
        let client = EventStreamClient()
        let listening = Task { await client.listen(to: url, headers: headers, http: http) }
        defer { listening.cancel() }
        try await eventually("the stream begins") { client.lastEventID != nil || client.hasEnded }
        return try await body(client)
    }

    private func listen(to url: String, headers: [String: String], http: HTTPClient) async {
        defer { state.withLock { $0.hasEnded = true } }
        do {
            var request = HTTPClientRequest(url: url)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            let response = try await http.execute(request, deadline: .distantFuture)
            state.withLock { $0.status = Int(response.status.code) }
            for try await bytes in response.body {
                try state.withLock { state in
                    state.start += bytes.readableBytesView.prefix(Self.retry.count - state.start.count)
                    for event in state.parser.receive(bytes.readableBytesView) {
                        state.events.append(Event(name: event.name, data: try JSONValue(parsing: Data(event.data.utf8))))
                    }
                }
            }
        } catch {
            // The connection has ended.
        }
    }
}
