import HTTPTypes
import Hummingbird

/// Refuses requests that a page of a foreign origin makes through its reader's browser.
///
/// Until there are accounts, being on this machine is the only permission that the gateway asks for, and a browser on this
/// machine runs pages from anywhere. So a request that names an origin must name one of the configured ones, or the
/// gateway's own; and the host that it was sent to must be this machine by a loopback name, or a configured origin's: a
/// page whose own name was made to resolve to this machine is foreign still.
struct OriginMiddleware: RouterMiddleware {
    /// Origins such as `https://portal.example.edu`.
    let allowed: [String]

    /// What a page may read of an answer beside its body. Browsers look for it on the answer itself; Hummingbird's CORS
    /// middleware has it on preflights alone.
    private static let exposed = "ETag, Link, Location, Retry-After, Idempotency-Replayed, X-Request-Id"

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let authority = request.head.authority
        if let authority, !isOwn(authority) {
            throw Problem(
                .originRefused,
                "The gateway is 127.0.0.1 or localhost, not \(authority.prefix(100)), unless MSI_GATEWAY_CORS_ORIGINS names it.",
                field: "Host")
        }
        guard let origin = request.headers[.origin] else { return try await next(request, context) }
        guard allowed.contains(origin) || origin == authority.map({ "http://\($0)" }) else {
            throw Problem(
                .originRefused,
                "Pages of \(origin.prefix(100)) may not call the gateway; MSI_GATEWAY_CORS_ORIGINS lists those that may.",
                field: "Origin")
        }
        var response = try await next(request, context)
        response.headers[.accessControlExposeHeaders] = Self.exposed
        return response
    }

    /// Whether a `host[:port]` is this machine's.
    private func isOwn(_ authority: String) -> Bool {
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        return ["127.0.0.1", "localhost", "[::1"].contains(host.lowercased())
            || allowed.contains { $0.hasSuffix("://" + authority) }
    }
}
