import CommandBus
import HTTPTypes
import Hummingbird
import Logging
import ServiceContextModule
import ServiceKit

/// What comes before the check of a request's credential: its id, its client, its origin, and the limit of connections. It turns
/// every failure into a problem document, and removes the body of an answer to `HEAD`, which a client would read as the next
/// response.
///
/// It is one middleware for all of that because each middleware costs every request some microseconds.
struct EntryMiddleware: RouterMiddleware {
    private let client: ClientCheck
    private let origin: OriginCheck
    private let limit: ConnectionLimit
    private let problems: ProblemAnswers
    private let instruments: RequestInstruments?
    /// ``OriginCheck`` has refused foreign origins before.
    private let cors = CORSMiddleware<GatewayContext>(
        allowOrigin: .originBased,
        allowHeaders: [
            .accept, .authorization, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .requestID,
            .traceparent,
        ],
        allowMethods: [.get, .head, .post, .put, .delete, .options],
        maxAge: .hours(1))

    init(_ access: GatewayAccess, allowedOrigins: [String], limit: ConnectionLimit, logger: Logger) {
        client = ClientCheck(access: access)
        origin = OriginCheck(allowed: allowedOrigins, publicURL: access.publicURL)
        self.limit = limit
        problems = ProblemAnswers(logger: logger)
        instruments = RequestInstruments()
    }

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let start = instruments.map { _ in ContinuousClock.now }
        let traceparent = Traceparent(of: request)
        let work = ServiceContext.current { $0.traceparent = traceparent }
        var response = try await ServiceContext.withValue(work) {
            do {
                var context = context
                try client.check(request, &context)
                try origin.check(request, &context)
                guard request.headers[.origin] == nil else { return try await answerOrigin(request, context, next) }
                return try await answer(request, context, next)
            } catch {
                return try problems.response(to: error, requestID: traceparent.traceID)
            }
        }
        response.headers[.requestID] = traceparent.traceID
        if let instruments, let start {
            instruments.record(request.method, route: context.endpointPath, response.status, since: start)
        }
        return request.method == .head ? response.withoutBody : response
    }

    private func answer(
        _ request: Request, _ context: GatewayContext, _ next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard try limit.check(request, on: context.channel) else { return try await next(request, context) }
        var response = try await next(request, context)
        response.headers[.connection] = "close"
        return response
    }

    /// Answers the page of an allowed origin, which may also read a problem.
    private func answerOrigin(
        _ request: Request, _ context: GatewayContext, _ next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var response = try await cors.handle(request, context: context) { request, context in
            do {
                return try await answer(request, context, next)
            } catch {
                return try problems.response(to: error, requestID: context.requestID)
            }
        }
        response.headers[.accessControlExposeHeaders] = OriginCheck.exposed
        return response
    }
}

extension Response {
    /// The answer to HEAD. Hummingbird's own says that a body of unknown length has none.
    fileprivate var withoutBody: Response {
        var head = createHeadResponse()
        head.headers[.contentLength] = headers[.contentLength]
        return head
    }
}
