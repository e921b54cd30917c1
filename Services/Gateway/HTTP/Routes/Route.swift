import HTTPRouting
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
    /// Whether the body may be empty.
    private(set) var isBodyOptional = false
    /// The status and the document of the answer if the request succeeds.
    let answer: AnswerForm
    /// See ``documented(_:_:path:headers:answerHeaders:also:problems:callsServices:)``.
    var documentation: RouteDocumentation?
    /// The budget of its requests without a sign-in. All methods of a path share the first of their budgets that is not
    /// ``AddressBudget/general``.
    var budget = AddressBudget.general
    let handler: @Sendable (Request, GatewayContext) async throws -> Response

    /// A route that reads a document from the body.
    init<Identity, Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, confirmed: Bool = false, body: Body.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, Body>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, nil, body, answer, handle)
    }

    /// A route that reads a document from the body unless that is empty (``RouteCall/optionalBody()``).
    init<Identity, Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, optionalBody body: Body.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, Body>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, false, nil, body, answer, handle)
        isBodyOptional = true
    }

    /// A route that reads no body.
    init<Identity, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, confirmed: Bool = false,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, NoBody>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, nil, nil, answer, handle)
    }

    /// A route that reads parameters from the query, and no body.
    ///
    /// - Parameter query: Its coding keys are the names of the parameters. An optional property is an optional parameter. The
    ///   handler gets the parameters checked, as ``QueryDecoder`` reads them.
    init<Identity, Query: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, confirmed: Bool = false, query: Query.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, NoBody>, Query) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, query, nil, answer) { call in
            try await handle(call, try QueryDecoder.decode(query, from: call.request))
        }
    }

    /// A route that reads parameters from the query, but decodes them only if its handler asks (``UnreadQuery``), and no body.
    init<Identity, Query: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, unread query: Query.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, NoBody>, UnreadQuery<Query>) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, false, query, nil, answer) { call in
            try await handle(call, UnreadQuery(request: call.request))
        }
    }

    /// A route that reads parameters from the query, and a document from the body.
    init<Identity, Query: Document, Body: Document, Value>(
        _ method: HTTPRequest.Method, _ path: String, right: Requirement<Identity>, confirmed: Bool = false, query: Query.Type,
        body: Body.Type,
        answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, Body>, Query) async throws -> Answer<Value>
    ) {
        self.init(method, path, right, confirmed, query, body, answer) { call in
            try await handle(call, try QueryDecoder.decode(query, from: call.request))
        }
    }

    private init<Identity, Body, Value>(
        _ method: HTTPRequest.Method, _ path: String, _ requirement: Requirement<Identity>, _ isConfirmed: Bool,
        _ query: (any Document.Type)?,
        _ body: (any Document.Type)?, _ answer: Answer<Value>.Form,
        _ handle: @escaping @Sendable (RouteCall<Identity, Body>) async throws -> Answer<Value>
    ) {
        self.method = method
        self.path = path
        right = requirement.right
        self.isConfirmed = isConfirmed
        self.query = query
        self.body = body
        self.answer = answer.mediaType.map { AnswerForm(answer.status, mediaType: $0) } ?? AnswerForm(answer.status, Value.self)
        let mayCompress = method == .get
        handler = { request, context in
            let made = try await handle(
                RouteCall(request: request, context: context, principal: requirement.identity(context.authentication)))
            let coding = AnswerCoding(for: request, isAllowed: mayCompress)
            return try await made.response(status: answer.status, coding, on: context.channel)
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

/// A part of a route's path.
enum PathSegment: Hashable, Sendable {
    case fixed(String)
    /// A parameter, by its name.
    case parameter(String)
}

extension Route {
    /// The parts of the path. `**`, which is any rest of a path, is the parameter `path`.
    var segments: [PathSegment] {
        path.split(separator: "/").map { part in
            part == "**" ? .parameter("path") : part.hasPrefix(":") ? .parameter(String(part.dropFirst())) : .fixed(String(part))
        }
    }

    /// The names of the path's parameters.
    var pathParameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }
}

extension RouterMethods where Context == GatewayContext {
    /// Adds declared routes.
    ///
    /// - Parameters:
    ///   - limits: Count a request whose account becomes known only by asking the people service.
    ///   - callers: Checks the caller once more after the body has arrived.
    ///   - middleware: What every request passes first, with the limit of a budget.
    func add(
        _ routes: [Route], limits: RequestLimits, callers: CallerCheck,
        behind middleware: (AddressBudget) -> some RouterMiddleware<GatewayContext>
    ) {
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let handlers = Dictionary(routes.map { ($0.method, $0.authorizedHandler(callers, limits)) }) { _, _ in
                preconditionFailure("two routes with one method at \(path)")
            }
            let budget = routes.map(\.budget).first { $0 != .general } ?? .general
            group().add(middleware: middleware(budget)).path(RouterPath(path), handlers, policy: .gateway)
        }
    }
}

extension MethodPolicy {
    /// The methods of RFC 9110, PATCH and QUERY. ``EntryMiddleware`` removes the body of a HEAD's answer.
    fileprivate static let gateway = MethodPolicy(
        known: [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch, .query], answersHeadAndOptions: true
    ) { method, allow in
        Problem(
            .methodNotAllowed, "\(method.rawValue) is not possible here; \(allow) are.", headers: [.allow: allow])
    }
}

extension HTTPRequest.Method {
    /// A GET with a body, an HTTP method that some clients use.
    fileprivate static let query: HTTPRequest.Method = {
        guard let method = HTTPRequest.Method("QUERY") else { preconditionFailure("QUERY is a valid token") }
        return method
    }()
}
