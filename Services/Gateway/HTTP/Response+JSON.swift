import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

extension Response {
    /// A document as JSON.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        json(bytes: try SchemaJSON.encode(value), status: status, headers: headers)
    }

    /// JSON that has been written before.
    static func json(bytes: Data, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
