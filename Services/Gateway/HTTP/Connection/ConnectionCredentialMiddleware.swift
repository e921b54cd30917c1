import Hummingbird

/// Remembers which connections have shown a valid credential: they are the last that are closed for others. It stands behind the
/// middleware that finds out the account.
struct ConnectionCredentialMiddleware: RouterMiddleware {
    let limit: ConnectionLimit

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        if context.principal != nil { limit.showedCredential(context.channel) }
        return try await next(request, context)
    }
}
