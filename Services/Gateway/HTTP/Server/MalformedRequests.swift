import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

// The answer to a request whose head cannot be read is a problem document. An error in a body reaches the route that reads it. While an
// earlier request is unanswered, its answer goes first, and the connection is closed after it.

extension Problem {
    /// A request whose head cannot be read.
    init(_ error: HTTPParserError) {
        self =
            error == .headerOverflow
            ? Problem(
                .headersTooLarge,
                "A request line and its header fields may have \(UpgradeRefusal.maxHeadBytes) bytes, and there may be "
                    + "\(UpgradeRefusal.maxHeaderFields) fields.")
            : Problem(.malformedRequest, "The request line or a header field cannot be read.")
    }

    /// Writes the parts of a response to a request that could not be read. The connection is closed after it.
    func send(_ write: (HTTPResponsePart) -> Void) {
        var problem = self
        problem.headers[.connection] = "close"
        guard let document = try? problem.document(requestID: GatewayContext.newRequestID()) else { return }
        write(.head(document.head))
        write(.body(document.body))
        write(.end(nil))
    }
}
