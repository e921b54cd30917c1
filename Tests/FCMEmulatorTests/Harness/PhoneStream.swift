import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// A phone's open event stream. Closed when it goes out of scope.
struct PhoneStream {
    struct Event {
        let id: Int64
        /// The line of JSON.
        let text: String

        private var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }

        subscript(name: String) -> Any? { json[name] }
        var data: [String: String] { json["data"] as? [String: String] ?? [:] }
        var notification: [String: String]? { json["notification"] as? [String: String] }
        var from: String? { json["from"] as? String }
        /// The text that identifies a test's message.
        var mark: String { data["mark"] ?? "" }
    }

    struct Ended: Error {}

    private var bytes: HTTPClientResponse.Body.AsyncIterator
    private var buffer = ""

    fileprivate init(_ body: HTTPClientResponse.Body) {
        bytes = body.makeAsyncIterator()
    }

    /// The next event. The request's deadline ends the wait for one that does not come.
    mutating func next() async throws -> Event {
        while true {
            let block = try await nextBlock()
            let fields = block.split(separator: "\n").filter { !$0.hasPrefix(":") }
            guard !fields.isEmpty else { continue }
            let id = fields.first { $0.hasPrefix("id: ") }?.dropFirst(4) ?? ""
            let data = fields.first { $0.hasPrefix("data: ") }?.dropFirst(6) ?? ""
            return Event(id: Int64(id) ?? -1, text: String(data))
        }
    }

    /// Waits for a comment without an event.
    mutating func nextComment() async throws -> String {
        while true {
            let block = try await nextBlock()
            if block.hasPrefix(":") { return block }
        }
    }

    /// Waits for the stream's end.
    ///
    /// - Returns: Whether it came without another event.
    mutating func ends() async -> Bool {
        do {
            _ = try await next()
            return false
        } catch {
            return true
        }
    }

    mutating func marks(_ count: Int) async throws -> [String] {
        var marks: [String] = []
        while marks.count < count { marks.append(try await next().mark) }
        return marks
    }

    private mutating func nextBlock() async throws -> String {
        while true {
            if let end = buffer.range(of: "\n\n") {
                let block = String(buffer[..<end.lowerBound])
                buffer = String(buffer[end.upperBound...])
                return block
            }
            guard let chunk = try await bytes.next() else { throw Ended() }
            buffer += String(buffer: chunk)
        }
    }
}

extension EmulatorClient {
    /// Opens a phone's stream, and returns once the emulator has it open.
    func listen(_ token: String, after id: Int64? = nil, within limit: TimeAmount = .seconds(60)) async throws -> PhoneStream {
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(port)/emulator/devices/\(token)/events")
        if let id { request.headers.add(name: "Last-Event-ID", value: String(id)) }
        let response = try await http.execute(request, timeout: limit)
        guard response.status == .ok else { throw PhoneStream.Ended() }
        var stream = PhoneStream(response.body)
        _ = try await stream.nextComment()
        return stream
    }

    /// Sends a data message with a mark.
    func sendMark(_ mark: String, to target: (String, String), extra: String = "") async throws -> HTTPAnswer {
        try await send(#"{"message":{"\#(target.0)":"\#(target.1)","data":{"mark":"\#(mark)"}\#(extra)}}"#)
    }

    /// All messages that a new stream of a phone gets, up to a last one that this function sends.
    func everything(for token: String) async throws -> [String] {
        _ = try await sendMark("the end", to: ("token", token))
        var stream = try await listen(token)
        var marks: [String] = []
        while case let mark = try await stream.next().mark, mark != "the end" { marks.append(mark) }
        return marks
    }
}
