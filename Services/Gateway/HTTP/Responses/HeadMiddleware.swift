import Hummingbird

/// Removes the body of every answer to `HEAD`: a client would read it as the next response.
struct HeadMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}
