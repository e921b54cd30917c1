import HTTPTypes
import Hummingbird
import ServiceKit

/// Finds out who the client of a request is, and refuses clients of other machines whose connection is not encrypted.
///
/// The client is the connection's peer, or what that says if it is a trusted proxy. A proxy that is not trusted is refused: all of
/// its clients would count as one, and on this machine as local ones.
struct ClientCheck: Sendable {
    let access: GatewayAccess

    /// Sets ``GatewayContext/client`` and ``GatewayContext/isSecure``.
    ///
    /// - Throws: ``Problem``.
    func check(_ request: Request, _ context: inout GatewayContext) throws {
        context.isSecure = request.head.scheme == "https"
        var isLocal = context.client?.isLoopback ?? false
        if let peer = context.client, let field = ForwardedClient.field(in: request.headers) {
            guard access.trusts(peer) else { throw Self.unknownProxy(peer, field) }
            let forwarded = try ForwardedClient(request.headers, trusts: access.trusts)
            context.client = forwarded.address ?? peer
            context.isSecure = forwarded.isSecure ?? context.isSecure
            isLocal = false
        }
        guard context.isSecure || isLocal || Self.isHealthCheck(request) else {
            throw Problem(
                .insecureConnection,
                access.publicURL.map { "Use \($0)." } ?? "The proxy must tell that its client uses https (X-Forwarded-Proto).")
        }
    }

    private static func unknownProxy(_ peer: IPAddress, _ field: HTTPField.Name) -> Problem {
        Problem(
            .invalidField,
            "\(field): \(peer) is no trusted proxy of the gateway. If it is a proxy before the gateway, name it in "
                + "MSI_GATEWAY_TRUSTED_PROXIES; otherwise leave the header out.",
            field: "\(field)")
    }

    /// A load balancer or a monitor may ask without TLS.
    private static func isHealthCheck(_ request: Request) -> Bool {
        request.uri.path == "/health" && (request.method == .get || request.method == .head)
    }
}
