import Hummingbird

/// Removes the body of an answer to HEAD.
///
/// No path serves HEAD, so each answer is a refusal. In HTTP/1.1 a client would read its body as the next answer, and in HTTP/2 it is
/// an error of the protocol.
struct HeadAnswers: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}
