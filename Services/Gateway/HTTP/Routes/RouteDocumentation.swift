import HTTPTypes
import Hummingbird
import Base
import Schemas

/// What the API's document says about a route beyond its declaration and its types.
struct RouteDocumentation: Sendable {
    /// A few words, such as "Send a message".
    let summary: String
    /// Further sentences, in Markdown; may be empty.
    let details: String
    /// The types of the path's parameters that are not ObjectIds, by name.
    let path: [String: any Route.Document.Type]
    /// The headers that the route reads.
    let headers: [RequestHeader]
    /// The headers of the answer.
    let answerHeaders: [AnswerHeader]
    /// Other answers than the declared one that are not problems.
    let otherAnswers: [AnswerForm]
    /// The route's own problems. ``Route/problems`` adds those that follow from the declaration.
    let problems: [ProblemKind]
    /// Whether it calls a service, and so has the problems of the bus.
    let callsServices: Bool
}

extension Route {
    /// The route with its documentation. A route without one fails a test.
    ///
    /// The API's document derives the rest from the declaration and the types: the right, the parameters, the limits of texts and
    /// numbers, and the problems that follow from them. The limits come from the types' `check()`.
    ///
    /// - Parameters:
    ///   - summary: A few words, such as "Send a message".
    ///   - details: Further sentences, in Markdown.
    ///   - path: The types of the path's parameters that are not ObjectIds, by name: `["account": AccountName.self]`.
    ///   - headers: The headers that it reads.
    ///   - answerHeaders: The headers of its answer.
    ///   - also: Other answers than the declared one that are not problems, such as 304.
    ///   - problems: Problems that do not follow from the declaration, such as `conflict`.
    ///   - callsServices: Whether it calls a service, and so can answer `service-unavailable`.
    func documented(
        _ summary: String, _ details: String = "", path: [String: any Document.Type] = [:], headers: [RequestHeader] = [],
        answerHeaders: [AnswerHeader] = [], also: [AnswerForm] = [], problems: [ProblemKind] = [], callsServices: Bool = true
    ) -> Route {
        var route = self
        route.documentation = RouteDocumentation(
            summary: summary, details: details, path: path, headers: headers, answerHeaders: answerHeaders, otherAnswers: also,
            problems: problems, callsServices: callsServices)
        return route
    }
}

/// A header that a route reads.
struct RequestHeader: Sendable {
    let name: HTTPField.Name
    /// The JSON Schema of its value.
    let schema: JSONValue
    let description: String
    let example: String
    /// The problems that only requests with this header get.
    let problems: [ProblemKind]

    /// The version that the author of an edit saw.
    static let ifMatch = seenVersion("v[0-9]{1,18}")

    /// As ``ifMatch``, for versions whose entity tags have another form.
    ///
    /// - Parameter version: A regular expression for the text between the quotes.
    static func seenVersion(_ version: String) -> RequestHeader {
        RequestHeader(
            // One pattern, because client generators do not support `anyOf` in a header.
            name: .ifMatch, schema: ["type": "string", "pattern": .string(#"^(\*|(W/)?"\#(version)(-gzip)?")$"#)],
            description: "The `ETag` of an earlier answer, or `*`. The request is refused with 412 if the object was changed "
                + "after it, or never had this version.",
            example: "\"v17\"", problems: [.editConflict])
    }

    /// The version that the caller has already.
    static let ifNoneMatch = RequestHeader(
        name: .ifNoneMatch, schema: ["type": "string"],
        description: "The `ETag`s of earlier answers, or `*`. The answer is 304 if nothing has changed.", example: "\"v17\"",
        problems: [])

    /// Where a stream of events resumes.
    static let lastEventID = RequestHeader(
        name: .lastEventID, schema: ["type": "string"],
        description: "The last `id` that the client has received. A browser sends it by itself.",
        example: "a17.6b0187feff0dafac2833f431-42", problems: [])

    /// The key of a POST and its retries.
    static let idempotencyKey = RequestHeader(
        name: .idempotencyKey,
        schema: ["type": "string", "minLength": 1, "maxLength": .integer(TextLimits.idempotencyKey.max)],
        description: "A text of your choice, a new one for each message. A retry with the same key gets the first answer.",
        example: "2f1c7a52-rain-warning", problems: [.idempotencyKeyReused])

    /// The key of a POST that answers a retry in the same way by its state alone.
    static let repeatableKey = RequestHeader(
        name: .idempotencyKey, schema: idempotencyKey.schema,
        description: "A text of your choice for the request and its retries. A retry changes nothing, even without it.",
        example: "7c0d1b3e-ask-bob", problems: [])
}

/// A header of an answer.
struct AnswerHeader: Sendable {
    let name: HTTPField.Name
    let description: String
    let example: String

    static let requestID = AnswerHeader(
        name: .requestID, description: "The request's id, which is in the services' logs.",
        example: "0aa793834948af74b5ad4da61c7ec718")

    static let retryAfter = AnswerHeader(name: .retryAfter, description: "Seconds to wait before the next try.", example: "2")

    static let eTag = AnswerHeader(name: .eTag, description: "The version of the answer's data.", example: "\"v17\"")

    static let location = AnswerHeader(
        name: .location, description: "The path of the new object.", example: "/message/6b0187feff0dafac2833f431")

    /// `rel="next"`.
    static let nextPage = AnswerHeader(
        name: .link, description: "The path of the next page, if there is one.", example: "</message?limit=50>; rel=\"next\"")

    static let sessionCookie = AnswerHeader(
        name: .setCookie, description: "The cookie of the sign-in.",
        example: "msi_session_8080=…; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax")

    static let idempotencyReplayed = AnswerHeader(
        name: .idempotencyReplayed,
        description: "`true` if an earlier request with the same `Idempotency-Key` has already stored the message.",
        example: "true")
}

extension HTTPField.Name {
    /// A field name that is certain to be well formed.
    static func known(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is not a field name") }
        return field
    }

    static let forwarded = known("Forwarded")
    static let lastEventID = known("Last-Event-ID")
    static let accelBuffering = known("X-Accel-Buffering")
    static let link = known("Link")
    static let rateLimit = known("RateLimit")
    static let rateLimitPolicy = known("RateLimit-Policy")
    static let xForwardedFor = known("X-Forwarded-For")
    static let xForwardedProto = known("X-Forwarded-Proto")
    static let hostField = known("Host")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let traceparent = known("traceparent")
    static let requestID = known("X-Request-Id")
    static let idempotencyKey = known("Idempotency-Key")
    static let idempotencyReplayed = known("Idempotency-Replayed")
}

extension RouteCall {
    /// Checks the form of the key of a ``RequestHeader/repeatableKey``.
    ///
    /// - Throws: ``Problem``.
    func checkRepeatableKey() throws(Problem) {
        _ = try request.idempotencyKey
    }
}

extension Request {
    /// The caller's key for a request and its repetitions: the header `Idempotency-Key`; `nil` without it.
    ///
    /// - Throws: ``Problem``.
    var idempotencyKey: String? {
        get throws(Problem) {
            let keys = headers[values: .idempotencyKey]
            guard let key = keys.first else { return nil }
            let problem = keys.count > 1 ? "expected one, found \(keys.count)" : TextLimits.idempotencyKey.problem(with: key)
            if let problem {
                throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
            }
            return key
        }
    }
}
