import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// One request to a ``TLSServer``, and its answer.
final class TLSServerStream: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private let answer: TLSServer.Handler
    private let log: RequestLog
    private var head: HTTPRequest?
    private var body = ByteBuffer()
    private var work: Task<Void, any Error>?

    init(answer: @escaping TLSServer.Handler, log: RequestLog) {
        self.answer = answer
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(var part): body.writeBuffer(&part)
        case .end: begin(on: context.channel)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        work?.cancel()
        context.fireChannelInactive()
    }

    private func begin(on channel: any Channel) {
        let request = TLSServer.Request(
            path: head?.path ?? "", headers: head?.headerFields ?? [:], body: Data(body.readableBytesView),
            connection: ObjectIdentifier(channel.parent ?? channel), channel: channel)
        log.requests.withLock { $0.append(request) }
        work = request.handle(answer)
    }
}

extension TLSServer.Request {
    /// Starts a task that answers. Cancel it to stop.
    fileprivate func handle(_ answer: @escaping TLSServer.Handler) -> Task<Void, any Error> {
        Task {
            do {
                try await send(try await answer(self))
            } catch {
                try await channel.close()
            }
        }
    }

    private func send(_ answer: TLSServer.Answer) async throws {
        var headers = answer.headers
        headers[.contentLength] = String(answer.body.count)
        let head = HTTPResponse(status: .init(code: answer.status), headerFields: headers)
        channel.write(HTTPResponsePart.head(head), promise: nil)
        channel.write(HTTPResponsePart.body(ByteBuffer(bytes: answer.body)), promise: nil)
        try await channel.writeAndFlush(HTTPResponsePart.end(nil))
    }
}
