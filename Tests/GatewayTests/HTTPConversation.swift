import FoundationEssentials
import NIOCore
import NIOPosix
import TestSupport

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
                        // The server has closed the connection before it has read everything. Its response until then counts.
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
                try await Task.sleep(for: .seconds(120))
                throw TookTooLong()
            }
            let received = try await group.next() ?? nil
            group.cancelAll()
            return received.flatMap { HTTPAnswer(parsing: $0) }
        }
    }

    struct TookTooLong: Error {}
}
