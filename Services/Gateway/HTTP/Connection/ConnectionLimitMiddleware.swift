import HTTPTypes
import Hummingbird

/// Answers 503 on connections above the maximum, except to `GET /health`, so that monitoring works under overload. Either answer
/// ends the connection.
struct ConnectionLimitMiddleware: RouterMiddleware {
    let limit: ConnectionLimit

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard limit.isSurplus(context.channel) else { return try await next(request, context) }
        guard request.uri.path == "/health", request.method == .get || request.method == .head else {
            throw Problem(
                .overloaded, "The gateway serves \(limit.maxConnections) connections already.", headers: [.connection: "close"])
        }
        var response = try await next(request, context)
        response.headers[.connection] = "close"
        return response
    }
}
