import HTTPTypes
import Hummingbird

/// Refuses requests that a page of a foreign origin makes through its reader's browser.
///
/// Until there are accounts, being on this machine is the only permission that the gateway asks for, and a browser on this
/// machine runs pages from anywhere. So a request that names an origin must name one of the configured ones, or the
/// gateway's own by a loopback name: a foreign name that resolves to this machine is foreign still.
struct OriginMiddleware: RouterMiddleware {
    let allowed: [String]

    /// What a page may read of an answer beside its body. Browsers look for it on the answer itself; Hummingbird's CORS
    /// middleware has it on preflights alone.
    private static let exposed = "ETag, Link, Location, Retry-After, Idempotency-Replayed, X-Request-Id"

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin] else { return try await next(request, context) }
        guard allowed.contains(origin) || isOwn(origin, request) else {
            throw Problem(
                .originRefused,
                "Pages of \(origin.prefix(100)) may not call the gateway; MSI_GATEWAY_CORS_ORIGINS lists those that may.",
                field: "Origin")
        }
        var response = try await next(request, context)
        response.headers[.accessControlExposeHeaders] = Self.exposed
        return response
    }

    private func isOwn(_ origin: String, _ request: Request) -> Bool {
        guard let authority = request.head.authority, origin == "http://\(authority)" else { return false }
        let host = authority.prefix { $0 != ":" }
        return ["127.0.0.1", "localhost"].contains(String(host)) || authority.hasPrefix("[::1]")
    }
}
