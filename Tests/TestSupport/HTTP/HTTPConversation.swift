import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Exchanges arbitrary bytes with an HTTP server on a new connection.
package enum HTTPConversation {
    /// A request that asks for the connection to be closed after it.
    package static func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: [UInt8]? = nil
    ) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nConnection: close\r\n"
        if headers["Host"] == nil { head += "Host: 127.0.0.1\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }

    /// A request of HTTP/1.0. It names no host, unless a field does.
    package static func oldRequest(
        _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil
    ) -> [UInt8] {
        let fields = fields + (body.map { ["Content-Length: \($0.utf8.count)"] } ?? [])
        let lines = ["\(method) \(target) HTTP/1.0"] + fields + ["", body ?? ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// Sends bytes and reads until the server closes the connection.
    ///
    /// - Parameters:
    ///   - isLast: Whether to close this side after the bytes, for interrupted requests.
    ///   - certificates: The path of the certificates to trust, for a server with TLS.
    /// - Returns: The first response; `nil` if the connection was closed without one.
    package static func send(
        _ bytes: [UInt8], to port: Int, isLast: Bool = false, trusting certificates: String? = nil
    ) async throws -> HTTPAnswer? {
        let tls = try certificates.map { file in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(file)
            return try NIOSSLContext(configuration: configuration)
        }
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { () throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> in
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try NIOAsyncChannel(
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

    private struct TookTooLong: Error {}
}

extension HTTPAnswer {
    /// Whether a client of HTTP/1.0 can read it that has not asked for the connection to stay open: its body has the announced length,
    /// or ends with the connection, and there are no chunks.
    package var isForOldClient: Bool {
        version == .http1_0 && self["transfer-encoding"] == nil && self["connection"] == "close"
            && self["content-length"].map { $0 == "\(body.count)" } ?? true
    }
}
