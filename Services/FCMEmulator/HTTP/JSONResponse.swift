import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Response {
    /// A response whose body is a JSON document.
    init(_ status: HTTPResponse.Status = .ok, _ document: JSONValue, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = "application/json; charset=UTF-8"
        self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: document.utf8)))
    }

    init(_ error: GoogleError) {
        self.init(error.httpStatus, error.document, headers: error.headers)
    }
}

extension Request {
    /// The whole body.
    ///
    /// - Parameter refusal: The error for a body that is too long; 413 if it is `nil`.
    /// - Throws: That error.
    func bytes(max: Int, orElse refusal: GoogleError? = nil) async throws -> [UInt8] {
        do {
            return Array(buffer: try await body.collect(upTo: max))
        } catch is NIOTooManyBytesError {
            throw refusal ?? .tooLarge(max)
        }
    }
}
