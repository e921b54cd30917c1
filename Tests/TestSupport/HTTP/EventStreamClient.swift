package import AsyncHTTPClient
import Foundation
package import JSON
import NIOCore
import NIOHTTP1
import Synchronization

/// A client of server-sent events that records what it receives.
package final class EventStreamClient: Sendable {
    package struct Event: Hashable, Sendable {
        package let name: String
        package let data: JSONValue
    }

    fileprivate struct State {
        var status: Int?
        var events: [Event] = []
        var lastEventID: String?
        var retry: String?
        var comments = 0
        var hasEnded = false
        var unread = Data()
        var name = "message"
    }

    private let state = Mutex(State())

    /// The status of the answer; `nil` before it.
    package var status: Int? { state.withLock { $0.status } }
    package var events: [Event] { state.withLock { $0.events } }
    package var lastEventID: String? { state.withLock { $0.lastEventID } }
    /// The time after which the server asks the client to reconnect, in milliseconds.
    package var retry: String? { state.withLock { $0.retry } }
    package var comments: Int { state.withLock { $0.comments } }
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
                try state.withLock { try $0.take(Data(bytes.readableBytesView)) }
            }
        } catch {
            // The connection has ended.
        }
    }
}

extension EventStreamClient.State {
    fileprivate mutating func take(_ bytes: Data) throws {
        unread += bytes
        while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: unread[..<end], as: UTF8.self)
            unread = Data(unread[(end + 1)...])
            let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.hasPrefix(" ") ? String($0.dropFirst()) : String($0)
            }
            guard field.count == 2 else {
                name = "message"
                continue
            }
            switch field[0] {
            case "": comments += 1
            case "event": name = field[1]
            case "data": events.append(.init(name: name, data: try JSONValue(parsing: Data(field[1].utf8))))
            case "id": lastEventID = field[1]
            case "retry": retry = field[1]
            default: break
            }
        }
    }
}
