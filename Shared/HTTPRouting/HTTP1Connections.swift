package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTPTypesHTTP1

/// Hummingbird's channel for HTTP/1 with the ``AnswerFraming``, for servers that have no handlers of their own.
package struct HTTP1Connections: ServerChildChannel {
    private let base: HTTP1Channel

    /// - Parameter responder: Answers the requests that ``ServerRequests`` does not.
    package init(responder: @escaping ServerRequests.Responder) {
        base = HTTP1Channel(responder: ServerRequests.responder(responder))
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(AnswerFraming(), position: .before(codec))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// A server for clients of HTTP/1.0 and HTTP/1.1.
    package static var http1Connections: HTTPServerBuilder { HTTPServerBuilder { HTTP1Connections(responder: $0) } }
}
