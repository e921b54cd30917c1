import CommandBus
import HTTPTypes
import Hummingbird
import ServiceContextModule

/// Gives each request an id and returns it as `X-Request-Id`.
///
/// A caller may send its own: in a W3C `traceparent`, or as an `X-Request-Id` of 32 hexadecimal digits or a UUID. Anything
/// else is replaced, so that ids in the log are short and harmless.
struct TraceMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let given = request.headers[.traceparent].flatMap { Traceparent($0) }
        let requestID = request.headers[.requestID].map { $0.lowercased().filter { $0 != "-" } }
        let traceparent = Traceparent(continuing: given?.traceID ?? requestID)
        let work = ServiceContext.current { $0.traceparent = traceparent }
        return try await ServiceContext.withValue(work) {
            var response = try await next(request, context)
            response.headers[.requestID] = traceparent.traceID
            return response
        }
    }
}

extension HTTPField.Name {
    /// A field name that is certain to be well formed.
    private static func known(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is not a field name") }
        return field
    }

    static let link = known("Link")
    static let hostField = known("Host")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let traceparent = known("traceparent")
    static let requestID = known("X-Request-Id")
    static let idempotencyKey = known("Idempotency-Key")
    static let idempotencyReplayed = known("Idempotency-Replayed")
}
