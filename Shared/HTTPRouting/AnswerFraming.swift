package import NIOCore
package import NIOHTTP1

/// How answers are delimited and connections kept (RFC 9112, sections 6.3 and 9.3), for clients of HTTP/1.0 as well, whose version neither
/// NIO nor Hummingbird looks at. It stands between NIO's HTTP/1 handlers and its codec for `HTTPTypes`.
///
/// - A client of HTTP/1.0 gets no chunks and no informational answers. Its connection stays open only if it asks for that and the answer
///   has a `Content-Length`. It may leave out `Host`.
/// - An answer to HEAD has no body, and so no chunks.
/// - A request after which the connection ends says exactly `Connection: close` to the handlers behind, which end it.
package final class AnswerFraming: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private struct Request {
        /// Whether it is of HTTP/1.0.
        let isOld: Bool
        let isHead: Bool
        let keepsConnection: Bool
    }

    /// The requests that have begun and whose answers have not ended.
    private var unanswered: [Request] = []
    /// Whether the answer ends with the connection, although the handlers behind do not know that.
    private var closesAfterAnswer = false

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let request = Request(
            isOld: head.version.major < 1 || head.version.major == 1 && head.version.minor == 0, isHead: head.method == .HEAD,
            keepsConnection: head.isKeepAlive)
        unanswered.append(request)
        if !request.keepsConnection { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        if request.isOld {
            // RFC 9110, section 10.1.1: it is to be ignored.
            head.headers.remove(name: "Expect")
            if !head.headers.contains(name: "Host"), let own = context.localAddress?.authority {
                head.headers.add(name: "Host", value: own)
            }
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let request = unanswered.first ?? Request(isOld: false, isHead: false, keepsConnection: true)
            if head.status.code < 200 {
                guard request.isOld else { return context.write(data, promise: promise) }
                promise?.succeed()
                return
            }
            frame(&head, for: request)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            guard unanswered.first?.isHead != true else {
                promise?.succeed()
                return
            }
            context.write(data, promise: promise)
        case .end:
            if !unanswered.isEmpty { unanswered.removeFirst() }
            guard closesAfterAnswer else { return context.write(data, promise: promise) }
            closesAfterAnswer = false
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            written.futureResult.whenSuccess { bound.value.close(mode: .output, promise: nil) }
            context.writeAndFlush(data, promise: written)
        }
    }

    private func frame(_ head: inout HTTPResponseHead, for request: Request) {
        let hasBody = head.status.mayHaveResponseBody && !request.isHead
        if !head.status.mayHaveResponseBody { head.headers.remove(name: "Content-Length") }
        let hasLength = head.headers.contains(name: "Content-Length")
        if hasBody, !hasLength, !request.isOld {
            head.headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
        } else {
            head.headers.remove(name: "Transfer-Encoding")
        }
        let isLast = !request.keepsConnection || !head.isKeepAlive
        closesAfterAnswer = !isLast && request.isOld && hasBody && !hasLength
        if isLast || closesAfterAnswer {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if request.isOld {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        // NIO's encoder makes chunks for any later version.
        if request.isOld { head.version = .http1_0 }
    }
}

extension SocketAddress {
    /// The address and port as in `Host`.
    fileprivate var authority: String? {
        guard let ipAddress, let port else { return nil }
        return self.protocol == .inet6 ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}
