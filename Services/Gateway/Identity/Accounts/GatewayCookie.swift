import Hummingbird
import Schemas
import ServiceKit

/// A cookie of the gateway's own pages.
enum GatewayCookie: String, CaseIterable {
    /// A sign-in.
    case session = "msi_session"
    /// A sign-in at the university's provider that has begun. The cookie binds it to the browser: otherwise an attacker could make
    /// a visitor finish the attacker's sign-in.
    case flow = "msi_oidc"

    /// Its maximum duration in seconds. A sign-in may end earlier; the people service decides.
    private var maxAge: Int {
        switch self {
        case .session: 43_200
        case .flow: 600
        }
    }

    /// Browsers accept the prefix `__Host-` only over TLS and from the host itself, so that no neighbouring host can set the
    /// cookie. Without TLS the name contains the URL's port: browsers send a cookie to all ports of a host, and several hubs on one
    /// machine would otherwise sign each other out.
    ///
    /// - Parameter isSecure: Whether the client's connection is encrypted.
    func name(for request: Request, isSecure: Bool) -> String {
        guard !isSecure else { return "__Host-\(rawValue)" }
        let port = request.head.authority.flatMap { HTTPAuthority($0) }?.port
        return rawValue + (port.map { "_\($0)" } ?? "")
    }

    /// Its value in a request; `nil` without one.
    func value(in request: Request, isSecure: Bool) -> String? {
        guard let cookie = request.cookies[name(for: request, isSecure: isSecure)], !cookie.value.isEmpty else { return nil }
        return cookie.value
    }

    /// The value of `Set-Cookie`.
    ///
    /// `SameSite=Lax`: browsers send it with a navigation from another site, such as the redirection back from the university's
    /// provider. They do not send it with other requests of another site, and ``OriginCheck`` refuses those that change something.
    ///
    /// - Parameter secret: `nil` ends the cookie.
    func set(_ secret: Secret?, for request: Request, isSecure: Bool) -> String {
        Cookie(
            name: name(for: request, isSecure: isSecure), value: secret?.text ?? "", maxAge: secret == nil ? 0 : maxAge,
            path: "/",
            secure: isSecure, httpOnly: true, sameSite: .lax
        ).description
    }
}

extension RouteCall {
    /// The value of `Set-Cookie` for the answer.
    ///
    /// - Parameter secret: `nil` ends the cookie.
    func set(_ cookie: GatewayCookie, _ secret: Secret?) -> String {
        cookie.set(secret, for: request, isSecure: context.isSecure)
    }
}
