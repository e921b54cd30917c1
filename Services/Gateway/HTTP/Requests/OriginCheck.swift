import HTTPTypes
import Hummingbird
import ServiceKit

/// Refuses requests that a page of a foreign origin makes through a browser.
///
/// Pages of any site can send requests through a browser that reaches the gateway. So the origin of a request must be a configured
/// origin or the gateway's own. The host of a request must be a loopback name, or the host of the public URL or of a configured
/// origin. That refuses pages whose host name was made to resolve to the gateway (DNS rebinding). Requests of the gateway's own
/// pages are marked: only they may use the cookie for changes.
struct OriginCheck: Sendable {
    /// Origins such as `https://portal.example.edu`.
    let allowed: [String]
    /// The gateway's own origin for clients on other machines; `nil` if there are none.
    let publicURL: String?
    /// The host of that origin.
    private let publicHost: String?

    init(allowed: [String], publicURL: String?) {
        self.allowed = allowed
        self.publicURL = publicURL
        publicHost = publicURL.flatMap { HTTPAuthority($0.dropFirst("https://".count)) }?.host
    }

    /// The header fields that a page may read. Browsers expect this list in the answer itself; Hummingbird's CORS middleware
    /// sends it only in preflights.
    static let exposed =
        "ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-Request-Id"

    /// Sets ``GatewayContext/isOwnOrigin``.
    ///
    /// - Throws: ``Problem``.
    func check(_ request: Request, _ context: inout GatewayContext) throws {
        let authority = try checkedHost(of: request)
        guard let origin = request.headers.value(of: .origin) else {
            let site = request.headers.value(of: .secFetchSite)
            try checkFetchSite(site, of: request)
            context.isOwnOrigin = site == "same-origin"
            return
        }
        let isAllowed = allowed.contains(origin)
        context.isOwnOrigin = origin == publicURL || origin == "\(context.isSecure ? "https" : "http")://\(authority)"
        guard isAllowed || context.isOwnOrigin else {
            throw Problem(
                .originRefused,
                "Pages of \(origin.prefix(100)) may not call the gateway; MSI_GATEWAY_CORS_ORIGINS lists those that may.",
                field: "Origin")
        }
        if !isAllowed { try checkFetchSite(request.headers.value(of: .secFetchSite), of: request) }
    }

    /// The request's only host, which must be well formed and the gateway's.
    private func checkedHost(of request: Request) throws -> String {
        // The first `Host` becomes the authority; further ones stay among the header fields.
        guard let text = request.head.authority, !request.headers.contains(.hostField) else {
            throw Problem(.invalidField, "Host: expected exactly one", field: "Host")
        }
        guard let authority = HTTPAuthority(text) else {
            throw Problem(.invalidField, "Host: expected a host, or host:port, found \"\(text.prefix(100))\"", field: "Host")
        }
        guard
            Self.loopbackNames.contains(authority.host) || authority.host == publicHost
                || allowed.contains(where: { $0.hasSuffix("://" + text) })
        else {
            throw Problem(
                .originRefused,
                "The gateway is \(publicURL ?? "127.0.0.1 or localhost"), not \(text.prefix(100)), unless MSI_GATEWAY_PUBLIC_URL or "
                    + "MSI_GATEWAY_CORS_ORIGINS names it.",
                field: "Host")
        }
        return text
    }

    /// Refuses a change that a page of another site requests. Browsers send `Sec-Fetch-Site` even without an `Origin`; other
    /// clients do not send it.
    private func checkFetchSite(_ site: String?, of request: Request) throws {
        guard let site, !Self.readingMethods.contains(request.method),
            site != "same-origin", site != "none"
        else { return }
        throw Problem(
            .originRefused,
            "A page of another site asks for this change (\(site.prefix(20))); MSI_GATEWAY_CORS_ORIGINS lists the pages that may.",
            field: "Sec-Fetch-Site")
    }

    private static let loopbackNames: Set<String> = ["127.0.0.1", "localhost", "[::1]"]
    private static let readingMethods: Set<HTTPRequest.Method> = [.get, .head, .options]
}
