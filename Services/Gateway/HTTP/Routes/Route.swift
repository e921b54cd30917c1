import HTTPTypes
import Hummingbird

/// One entry of the gateway's API: a method of a path, the right that it requires, its query, its body, its answer, its handler,
/// and its documentation.
///
/// The router derives dispatch, 405 with `Allow`, HEAD and OPTIONS from these declarations. The API's document derives from them as
/// well.
struct Route: Sendable {
    /// The query or the body of a request as a type.
    typealias Document = Decodable & Sendable

    let method: HTTPRequest.Method
    /// As the router reads it: `/area/:channelID/:areaID`.
    let path: String
    let right: Right
    /// Whether the caller must have confirmed the password within the last minutes.
    let isConfirmed: Bool
    /// The parameters of the query; `nil` if the route reads no query.
    let query: (any Document.Type)?
    /// The document in the request's body; `nil` if the route reads no body.
    let body: (any Document.Type)?
    /// The status and the document of the answer if the request succeeds.
    let answer: AnswerForm
    /// See ``documented(_:_:path:headers:answerHeaders:also:problems:callsServices:)``.
    var documentation: RouteDocumentation?
    /// What its requests without a sign-in count as. All methods of a path count as the first of their budgets that is not
    /// ``AddressBudget/general``.
    var budget = AddressBudget.general
    let handler: @Sendable (Request, GatewayContext) async throws -> Response

    /// A route that reads a document from the body.
    init<Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, confirmed: Bool = false, body: Body.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<Body>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, nil, body, answer, handle)
    }

    /// A route that reads no body.
    init<Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, confirmed: Bool = false, answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<NoBody>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, nil, nil, answer, handle)
    }

    /// A route that reads parameters from the query, and no body.
    ///
    /// - Parameter query: Its coding keys are the names of the parameters. An optional property is an optional parameter. The
    ///   handler gets the parameters checked, as ``QueryDecoder`` reads them.
    init<Query: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, confirmed: Bool = false, query: Query.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<NoBody>, Query) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, query, nil, answer) { call in
            try await handle(call, try QueryDecoder.decode(query, from: call.request))
        }
    }

    /// A route that reads parameters from the query only if it does not know the query's text, and no body.
    init<Query: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, unread query: Query.Type, answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<NoBody>, UnreadQuery<Query>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, false, query, nil, answer) { call in
            try await handle(call, UnreadQuery(request: call.request))
        }
    }

    /// A route that reads parameters from the query, and a document from the body.
    init<Query: Document, Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, confirmed: Bool = false, query: Query.Type, body: Body.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<Body>, Query) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, query, body, answer) { call in
            try await handle(call, try QueryDecoder.decode(query, from: call.request))
        }
    }

    private init<Body, Value>(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, _ isConfirmed: Bool, _ query: (any Document.Type)?,
        _ body: (any Document.Type)?, _ answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<Body>) async throws -> Answer<Value>
    ) {
        self.method = method
        self.path = path
        self.right = right
        self.isConfirmed = isConfirmed
        self.query = query
        self.body = body
        self.answer = answer.mediaType.map { AnswerForm(answer.status, mediaType: $0) } ?? AnswerForm(answer.status, Value.self)
        handler = { request, context in
            let call = Call<Body>(request: request, context: context)
            return try await handle(call).response(status: answer.status, on: context.channel)
        }
    }
}

/// The answer that a route declares.
struct AnswerForm: Sendable {
    let status: HTTPResponse.Status
    /// `nil` if the answer has no body, or no JSON.
    let document: (any (Encodable & Sendable).Type)?
    /// The answer's `Content-Type` without parameters; `nil` if it has no body.
    let mediaType: String?

    /// An answer with a document, or without a body.
    init(_ status: HTTPResponse.Status, _ document: (some Encodable & Sendable).Type = NoContent.self) {
        self.status = status
        let isEmpty = document == NoContent.self
        self.document = isEmpty ? nil : document
        mediaType = isEmpty ? nil : "application/json"
    }

    /// An answer that is not JSON.
    init(_ status: HTTPResponse.Status, mediaType: String) {
        self.status = status
        document = nil
        self.mediaType = mediaType
    }
}
