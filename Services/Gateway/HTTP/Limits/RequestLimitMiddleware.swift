import HTTPTypes
import Hummingbird

/// Answers 429 to an account or a client address that makes too many requests. It stands behind the middleware that finds out the
/// account.
struct RequestLimitMiddleware: RouterMiddleware {
    let limits: RequestLimits
    /// What requests without a sign-in count as.
    var budget = AddressBudget.general

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let fields = try limits.count(context.principal, from: context.client, as: budget)
        guard !fields.isEmpty else { return try await next(request, context) }
        var response = try await next(request, context)
        for field in fields { response.headers[field.name] = field.value }
        return response
    }
}
