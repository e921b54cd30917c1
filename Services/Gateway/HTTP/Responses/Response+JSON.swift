import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// JSON of any size, sent as fast as the client reads it.
    ///
    /// - Parameter channel: The request's connection.
    static func json(
        _ bytes: ByteBuffer, status: HTTPResponse.Status, headers: HTTPFields, on channel: any NIOCore.Channel
    ) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .pieces(of: bytes, on: channel))
    }
}
