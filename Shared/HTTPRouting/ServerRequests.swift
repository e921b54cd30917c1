import HTTPTypes
package import HummingbirdCore
package import NIOCore
import NIOHTTPTypes

/// What every HTTP server does with a request before its routes.
package enum ServerRequests {
    /// Answers the requests of a connection; Hummingbird's type.
    package typealias Responder = @Sendable (Request, consuming ResponseWriter, any Channel) async throws -> Void

    /// Answers `OPTIONS *`, which asks whether there is a server (RFC 9110, section 9.3.7). Sends `100 Continue` to a
    /// waiting client only when its body is read, so that a client whose request is refused for its head sends no body (section 10.1.1).
    ///
    /// - Parameter answer: Answers all other requests.
    package static func responder(_ answer: @escaping Responder) -> Responder {
        { (request, writer: consuming ResponseWriter, channel) in
            guard request.method != .options || request.head.path != "*" else {
                return try await writer.writeResponse(HTTPResponse(status: .noContent))
            }
            guard request.waitsForContinue else { return try await answer(request, writer, channel) }
            var waiting = request
            waiting.body = RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: channel))
            try await answer(waiting, writer, channel)
        }
    }
}

extension Request {
    /// Whether the client has a body and sends it only after `100 Continue`. The body of a GET is not read before the answer begins.
    fileprivate var waitsForContinue: Bool {
        headers.contains(.expect) && headers[.expect]?.lowercased() == "100-continue" && method != .get && method != .head
            && (headers[.transferEncoding] != nil || headers[.contentLength].map { $0 != "0" } ?? false)
    }
}

/// A body whose client waits for `100 Continue`. The first read sends it.
private struct AwaitedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    func makeAsyncIterator() -> Iterator { Iterator(body: body.makeAsyncIterator(), waiting: channel) }

    struct Iterator: AsyncIteratorProtocol {
        var body: RequestBody.AsyncIterator
        /// `nil` after `100 Continue` was sent.
        var waiting: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            if let channel = waiting {
                waiting = nil
                try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
            }
            return try await body.next()
        }
    }
}
