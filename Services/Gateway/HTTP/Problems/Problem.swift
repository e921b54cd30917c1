import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Schemas
import Time

/// A failure for a client: a problem document (RFC 9457) of a kind in the catalogue.
struct Problem: Error {
    let kind: ProblemKind
    /// The specific problem, in one sentence.
    let detail: String
    /// The invalid field, parameter or header, if there is one.
    var field: String?
    /// Further response headers, such as `Allow`.
    var headers: HTTPFields = [:]

    init(_ kind: ProblemKind, _ detail: String, field: String? = nil, headers: HTTPFields = [:]) {
        self.kind = kind
        self.detail = detail
        self.field = field
        self.headers = headers
    }
}

extension Problem {
    /// A document or parameter that breaks a schema.
    init(_ violation: SchemaViolation) {
        self.init(
            violation.field.isEmpty ? .invalidJSON : .invalidField, violation.description,
            field: violation.field.isEmpty ? nil : violation.field)
    }

    /// A service's failure on the bus.
    init(_ failure: CommandFailure) {
        let kind: ProblemKind =
            switch failure.status {
            case .invalid: .invalidField
            case .unauthenticated: .unauthenticated
            case .forbidden: .forbidden
            case .notFound: .notFound
            case .conflict: .conflict
            case .overloaded: .overloaded
            case .unavailable: .serviceUnavailable
            case .storageFull: .storageFull
            case .deadlineExceeded: .serviceTimeout
            case .internal, .ok: .internalError
            }
        self.init(kind, failure.message, field: failure.field)
    }
}

extension Problem {
    /// The document of an answer.
    struct Document: Codable {
        let type: String
        let title: String
        let status: Int
        let detail: String
        let field: String?
        let requestID: String

        private enum CodingKeys: String, CodingKey {
            case type, title, status, detail, field
            case requestID = "request_id"
        }
    }

    /// The response, with the request's id in the services' logs.
    func response(requestID: String) throws -> Response {
        let document = try document(requestID: requestID)
        return Response(
            status: document.head.status, headers: document.head.headerFields, body: .init(byteBuffer: document.body))
    }

    /// The response in its parts.
    func document(requestID: String) throws -> (head: HTTPResponse, body: ByteBuffer) {
        let document = Document(
            type: kind.type, title: kind.title, status: kind.status.code, detail: detail, field: field,
            requestID: requestID)
        var headers = headers
        headers[.contentType] = "application/problem+json"
        if kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        if let retryAfter = kind.retryAfter { headers[.retryAfter] = retryAfter.description }
        headers[.requestID] = requestID
        let body = ByteBuffer(bytes: try JSONCoder.encode(document))
        headers[.contentLength] = String(body.readableBytes)
        return (HTTPResponse(status: kind.status, headerFields: headers), body)
    }
}
