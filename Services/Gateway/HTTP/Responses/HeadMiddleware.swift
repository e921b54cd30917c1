import Hummingbird

/// Answers `HEAD` without a body, whatever the answer is: a client reads what follows the header as the next response.
struct HeadMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}
