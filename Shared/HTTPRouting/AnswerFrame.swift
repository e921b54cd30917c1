package import NIOCore
package import NIOHTTP1

/// What the framing of an answer depends on in its request.
package struct FramedRequest: Sendable {
    /// Whether its version is HTTP/1.0.
    package let isOld: Bool
    package let isHead: Bool
    package let keepsConnection: Bool

    /// The one that is assumed for an answer without a request, such as that to a request that cannot be read.
    package static let unknown = FramedRequest(isOld: false, isHead: false, keepsConnection: true)

    private init(isOld: Bool, isHead: Bool, keepsConnection: Bool) {
        self.isOld = isOld
        self.isHead = isHead
        self.keepsConnection = keepsConnection
    }

    /// Reads a request's head, and changes it for the handlers of the request: it has exactly `Connection: close` if the connection ends
    /// after it, and a request of HTTP/1.0 has a `Host` and no `Expect`.
    ///
    /// - Parameter address: The connection's own address.
    package init(of head: inout HTTPRequestHead, at address: @autoclosure () -> SocketAddress?) {
        self.init(
            isOld: head.version.major < 1 || head.version.major == 1 && head.version.minor == 0, isHead: head.method == .HEAD,
            keepsConnection: head.isKeepAlive)
        if !keepsConnection { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        guard isOld else { return }
        // RFC 9110, section 10.1.1: a server must ignore it.
        head.headers.remove(name: "Expect")
        if !head.headers.contains(name: "Host"), let own = address()?.authority { head.headers.add(name: "Host", value: own) }
    }
}

/// How an answer is delimited, and whether its connection stays open, by RFC 9112, sections 6.3 and 9.3. Pure.
///
/// - A client of HTTP/1.0 gets no chunks. Its connection stays open only if it asks for that and the answer has a `Content-Length`.
/// - An answer to HEAD has no body, and so no chunks.
package struct AnswerFrame: Sendable {
    package let isChunked: Bool
    /// Whether the answer's `Content-Length` is sent.
    package let keepsLength: Bool
    /// The value of `Connection` in place of the answer's own; `nil` for its own.
    package let connection: StaticString?
    /// Whether the end of the answer is that of the connection, which its `Connection` did not say.
    package let endsConnection: Bool

    /// - Parameters:
    ///   - mayHaveBody: Whether answers of this status may have a body.
    ///   - hasLength: Whether the answer has a `Content-Length`.
    ///   - isLast: Whether the answer's `Connection` says that the connection ends.
    package init(to request: FramedRequest, mayHaveBody: Bool, hasLength: Bool, isLast: Bool) {
        let hasBody = mayHaveBody && !request.isHead
        let isDelimited = mayHaveBody && hasLength
        isChunked = hasBody && !isDelimited && !request.isOld
        keepsLength = mayHaveBody
        let isLast = isLast || !request.keepsConnection
        endsConnection = !isLast && request.isOld && hasBody && !isDelimited
        connection = isLast || endsConnection ? "close" : request.isOld ? "keep-alive" : nil
    }
}

extension SocketAddress {
    /// The address and port as in `Host`.
    fileprivate var authority: String? {
        guard let ipAddress, let port else { return nil }
        return self.protocol == .inet6 ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}
