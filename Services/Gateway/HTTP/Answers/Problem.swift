import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base
import Logging
import NIOCore
import Schemas

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
            // A service of an earlier version, which is upgraded soon.
            case .invalid: failure.isUnknownCommand ? .serviceUnavailable : .invalidField
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

/// Turns every failure of a request into a problem document.
struct ProblemAnswers: Sendable {
    let logger: Logger

    func response(to error: any Error, requestID: String) throws -> Response {
        let problem = problem(for: error)
        // An outage is logged at the default level, so that a reported request id is found in the log. Other refusals are too
        // frequent for that.
        let isOutage = [.serviceUnavailable, .serviceTimeout].contains(problem.kind)
        logger.log(
            level: isOutage ? .info : .debug, "refused a request",
            metadata: ["type": "\(problem.kind.rawValue)", "detail": "\(problem.detail)"])
        return try problem.response(requestID: requestID)
    }

    private func problem(for error: any Error) -> Problem {
        switch error {
        case let problem as Problem:
            return problem
        case let violation as SchemaViolation:
            return Problem(violation)
        case let failure as CommandFailure:
            if failure.status == .internal { logger.error("a service failed", metadata: ["error": "\(failure)"]) }
            return Problem(failure)
        case is NIOTooManyBytesError:
            return Problem(.bodyTooLarge, "A body may have at most \(RequestBody.maxBytes) bytes.")
        case let error as any HTTPResponseError where error.status == .notFound:
            return Problem(.notFound, "The path does not exist.")
        default:
            logger.error("a request failed", metadata: ["error": "\(error)"])
            return Problem(.internalError, "The gateway's log says more about this request id.")
        }
    }
}
