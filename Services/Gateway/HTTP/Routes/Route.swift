import HTTPTypes
import Hummingbird

/// One entry of the gateway's API: a method of a path, the right that it requires, its body, its answer, and its handler.
///
/// The router derives dispatch, 405 with `Allow`, HEAD and OPTIONS from these declarations.
struct Route: Sendable {
    /// The body of a request as a type.
    typealias Document = Decodable & Sendable

    let method: HTTPRequest.Method
    /// As the router reads it: `/area/:channelID/:areaID`.
    let path: String
    let right: Right
    /// The document in the request's body; `nil` if the route reads no body.
    let body: (any Document.Type)?
    /// The status and the document of the answer if the request succeeds.
    let answer: AnswerForm
    let handler: @Sendable (Request, GatewayContext) async throws -> Response

    /// A route that reads a document from the body.
    init<Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, body: Body.Type, answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<Body>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, body, answer, handle)
    }

    /// A route that reads no body.
    init<Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Right, answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (Call<NoBody>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, nil, answer, handle)
    }

    private init<Body, Value>(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, _ body: (any Document.Type)?,
        _ answer: Answer<Value>.Form, _ handle: @escaping @Sendable (Call<Body>) async throws -> Answer<Value>
    ) {
        self.method = method
        self.path = path
        self.right = right
        self.body = body
        self.answer = AnswerForm(status: answer.status, document: Value.self == NoContent.self ? nil : Value.self)
        handler = { request, context in
            let call = Call<Body>(request: request, context: context)
            return try await handle(call).response(status: answer.status, on: context.channel)
        }
    }
}

/// The answer that a route declares.
struct AnswerForm: Sendable {
    let status: HTTPResponse.Status
    /// `nil` if the answer has no body.
    let document: (any (Encodable & Sendable).Type)?
}
