import HTTPTypes
import Base

/// The catalogue of the gateway's errors. `GET /problems` lists it. The `type` of a problem document is the path of its entry.
enum ProblemKind: String, ClosedEnum {
    case invalidJSON = "invalid-json"
    case invalidField = "invalid-field"
    case ambiguousName = "ambiguous-name"
    case topicUnknown = "topic-unknown"
    case distributionMismatch = "distribution-mismatch"
    case payloadTooLarge = "payload-too-large"
    case unauthenticated = "unauthenticated"
    case forbidden = "forbidden"
    case confirmationRequired = "confirmation-required"
    case originRefused = "origin-refused"
    case insecureConnection = "insecure-connection"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case conflict = "conflict"
    case editConflict = "edit-conflict"
    case bodyTooLarge = "body-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case headersTooLarge = "headers-too-large"
    case malformedRequest = "malformed-request"
    case requestTimeout = "request-timeout"
    case tooManyRequests = "too-many-requests"
    case idempotencyKeyReused = "idempotency-key-reused"
    case internalError = "internal-error"
    case overloaded = "overloaded"
    case serviceUnavailable = "service-unavailable"
    case serviceTimeout = "service-timeout"
    case storageFull = "storage-full"

    /// The path of its entry in the catalogue.
    var type: String { "/problems/\(rawValue)" }

    var status: HTTPResponse.Status {
        switch self {
        case .invalidJSON, .invalidField, .topicUnknown, .distributionMismatch, .payloadTooLarge, .malformedRequest: .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden, .confirmationRequired, .originRefused, .insecureConnection: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .conflict, .ambiguousName: .conflict
        case .editConflict: .preconditionFailed
        case .bodyTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .requestTimeout: .requestTimeout
        case .tooManyRequests: .tooManyRequests
        case .idempotencyKeyReused: .unprocessableContent
        case .internalError: .internalServerError
        case .overloaded, .serviceUnavailable, .serviceTimeout: .serviceUnavailable
        case .storageFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
        }
    }

    var title: String {
        switch self {
        case .invalidJSON: "The body is not the expected JSON."
        case .invalidField: "A field, parameter or header is missing or wrong."
        case .ambiguousName: "The names fit more than one subject."
        case .topicUnknown: "No subject has this topic_key."
        case .distributionMismatch: "The distribution is not that of the subject."
        case .payloadTooLarge: "The message is larger than FCM allows."
        case .unauthenticated: "The request must name its caller."
        case .forbidden: "The caller may not do this."
        case .confirmationRequired: "The caller must confirm the password first."
        case .originRefused: "Pages of this origin may not call the gateway."
        case .insecureConnection: "The connection is not encrypted."
        case .notFound: "The requested object or path does not exist."
        case .methodNotAllowed: "The path does not have this method."
        case .conflict: "The request contradicts stored data."
        case .editConflict: "The object was changed after the version in If-Match."
        case .bodyTooLarge: "The body is too large."
        case .unsupportedMediaType: "The body has a type or an encoding that is not read here."
        case .headersTooLarge: "The request line and the header fields are too large."
        case .malformedRequest: "The request is not valid HTTP."
        case .tooManyRequests: "The caller makes too many requests; try again later."
        case .requestTimeout: "The request did not arrive in time."
        case .idempotencyKeyReused: "The Idempotency-Key was used for another request."
        case .internalError: "The gateway or a service has failed."
        case .overloaded: "Too many requests are pending; try again later."
        case .serviceUnavailable: "A service is unreachable; try again later."
        case .serviceTimeout: "A service did not answer in time; it may have done its work."
        case .storageFull: "There is no room to store it; stored messages are safe and are still sent."
        }
    }

    /// The `Retry-After` of transient errors.
    var retryAfter: Seconds? {
        switch self {
        case .overloaded, .serviceUnavailable, .serviceTimeout: 2
        default: nil
        }
    }
}

/// The catalogue of problems over HTTP: the `type` of a problem document is the path of its entry.
struct ProblemRoutes: Feature {
    var section: APISection {
        APISection(
            "Problems",
            "Each error is a problem document (RFC 9457). Its `type` says which kind of problem it is, and `field` where.")
    }

    var routes: [Route] {
        [
            Route(.get, "/problems", right: .anyone, answer: .ok([ProblemEntry].self)) { _ in
                Answer(ProblemKind.allCases.map(ProblemEntry.init))
            }.documented("List the kinds of problems", callsServices: false),
            Route(.get, "/problems/:kind", right: .anyone, answer: .ok(ProblemEntry.self)) { call in
                guard let kind = call.parameter("kind").flatMap(ProblemKind.init(rawValue:)) else {
                    throw Problem(.notFound, "There is no such kind of problem; /problems lists all kinds.")
                }
                return Answer(ProblemEntry(kind))
            }.documented(
                "Read one kind of problem", "The `type` of a problem document is this path.", path: ["kind": ProblemKind.self],
                callsServices: false),
        ]
    }

    private struct ProblemEntry: Codable {
        let type: String
        let title: String
        let status: Int

        init(_ kind: ProblemKind) {
            type = kind.type
            title = kind.title
            status = kind.status.code
        }
    }
}
