import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Schemas

extension Response {
    /// A document as JSON.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        json(.init(byteBuffer: ByteBuffer(bytes: try JSONCoder.encode(value))), status: status, headers: headers)
    }

    /// JSON of any size, which is written as fast as the client reads it.
    ///
    /// - Parameter channel: The request's connection.
    static func json(large bytes: Data, on channel: any NIOCore.Channel, headers: HTTPFields = [:]) -> Response {
        json(.pieces(of: bytes, on: channel), status: .ok, headers: headers)
    }

    private static func json(_ body: ResponseBody, status: HTTPResponse.Status, headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: body)
    }
}
