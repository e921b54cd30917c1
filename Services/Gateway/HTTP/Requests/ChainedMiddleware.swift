import Hummingbird

/// Two middlewares as one. The compiler knows both, whereas Hummingbird keeps each that it is given as a value of unknown type, and copies
/// the request and its context for each without knowing their size.
struct ChainedMiddleware<First: RouterMiddleware<GatewayContext>, Second: RouterMiddleware<GatewayContext>>: RouterMiddleware {
    private let first: First
    private let second: Second

    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        try await first.handle(request, context: context) { request, context in
            try await second.handle(request, context: context, next: next)
        }
    }
}
