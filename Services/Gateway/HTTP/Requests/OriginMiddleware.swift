import HTTPTypes
import Hummingbird
import ServiceKit

/// Refuses requests that a page of a foreign origin makes through a browser.
///
/// Until there are accounts, every process on this machine may use the gateway, and a browser on this machine runs pages
/// from anywhere. So the origin of a request must be a configured one or the gateway's own. The host of a request must
/// be a loopback name or a configured origin's host. This also refuses pages whose own name was made to resolve to this
/// machine (DNS rebinding).
struct OriginMiddleware: RouterMiddleware {
    /// Origins such as `https://portal.example.edu`.
    let allowed: [String]

    /// The header fields that a page may read. Browsers expect this list in the answer itself; Hummingbird's CORS middleware
    /// sends it only in preflights.
    private static let exposed = "ETag, Link, Location, Retry-After, Idempotency-Replayed, X-Request-Id"

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let authority = try checkedHost(of: request)
        guard let origin = request.headers[.origin] else {
            try checkFetchSite(of: request)
            return try await next(request, context)
        }
        let isAllowed = allowed.contains(origin)
        guard isAllowed || origin == "http://\(authority)" else {
            throw Problem(
                .originRefused,
                "Pages of \(origin.prefix(100)) may not call the gateway; MSI_GATEWAY_CORS_ORIGINS lists those that may.",
                field: "Origin")
        }
        if !isAllowed { try checkFetchSite(of: request) }
        var response = try await next(request, context)
        response.headers[.accessControlExposeHeaders] = Self.exposed
        return response
    }

    /// The request's only host, which must be well formed and this machine's.
    private func checkedHost(of request: Request) throws -> String {
        // The first `Host` becomes the authority; further ones stay among the header fields.
        guard let text = request.head.authority, request.headers[.hostField] == nil else {
            throw Problem(.invalidField, "Host: expected exactly one", field: "Host")
        }
        guard let authority = HTTPAuthority(text) else {
            throw Problem(.invalidField, "Host: expected a host, or host:port, found \"\(text.prefix(100))\"", field: "Host")
        }
        guard
            ["127.0.0.1", "localhost", "[::1]"].contains(authority.host)
                || allowed.contains(where: { $0.hasSuffix("://" + text) })
        else {
            throw Problem(
                .originRefused,
                "The gateway is 127.0.0.1 or localhost, not \(text.prefix(100)), unless MSI_GATEWAY_CORS_ORIGINS names it.",
                field: "Host")
        }
        return text
    }

    /// Refuses a change that a page of another site requests. Browsers send `Sec-Fetch-Site` even without an `Origin`; other
    /// clients do not send it.
    private func checkFetchSite(of request: Request) throws {
        guard let site = request.headers[.secFetchSite], !Self.readingMethods.contains(request.method),
            site != "same-origin", site != "none"
        else { return }
        throw Problem(
            .originRefused,
            "A page of another site asks for this change (\(site.prefix(20))); MSI_GATEWAY_CORS_ORIGINS lists the pages that may.",
            field: "Sec-Fetch-Site")
    }

    private static let readingMethods: Set<HTTPRequest.Method> = [.get, .head, .options]
}
