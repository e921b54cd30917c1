import Foundation
import NIOCore
import NIOPosix

/// A received response.
struct HTTPAnswer: CustomStringConvertible {
    let status: Int
    /// The fields by lower-case name. If a name is repeated, the last one counts.
    let headers: [String: String]
    let body: String

    /// Parses a response; `nil` if the bytes are none.
    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        self.status = status
        headers = lines.dropFirst().reduce(into: [:]) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        body = String(text[end.upperBound...])
    }

    /// The body as an object; empty if it is none.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    /// The last part of a problem's `type`.
    var problem: String? {
        guard headers["content-type"] == "application/problem+json", json["status"] as? Int == status,
            json["title"] is String, json["detail"] is String, json["request_id"] as? String == headers["x-request-id"],
            let type = json["type"] as? String, type.hasPrefix("/problems/")
        else { return nil }
        return String(type.dropFirst("/problems/".count))
    }

    var description: String { "\(status) \(headers) \(body.prefix(500))" }
}

/// Exchanges arbitrary bytes with an HTTP server on a new connection.
enum HTTPConversation {
    /// A request that asks for the connection to be closed after it.
    static func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: [UInt8]? = nil
    ) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nConnection: close\r\n"
        if headers["Host"] == nil { head += "Host: 127.0.0.1\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }

    /// Sends bytes and reads until the server closes the connection.
    ///
    /// - Parameter isLast: Whether to close this side after the bytes, for interrupted requests.
    /// - Returns: The first response; `nil` if the connection was closed without one.
    static func send(_ bytes: [UInt8], to port: Int, isLast: Bool = false) async throws -> HTTPAnswer? {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                try await channel.executeThenClose { inbound, outbound in
                    var received: [UInt8] = []
                    do {
                        try await outbound.write(ByteBuffer(bytes: bytes))
                        if isLast { outbound.finish() }
                    } catch is ChannelError {
                        // The server has closed before it has read everything. Its response until then counts.
                    } catch is IOError {}
                    do {
                        for try await buffer in inbound { received += Array(buffer.readableBytesView) }
                    } catch is IOError {
                        // The server has closed without reading everything.
                    }
                    return received
                }
            }
            group.addTask {
                try await Task.sleep(for: .seconds(20))
                throw TookTooLong()
            }
            let received = try await group.next() ?? nil
            group.cancelAll()
            return received.flatMap(HTTPAnswer.init)
        }
    }

    struct TookTooLong: Error {}
}
