import HTTPTypes
import Hummingbird
import Schemas
import ServiceKit

/// Finds out which account makes a request, from its cookie or bearer token. ``Route`` decides what the account may do.
struct AuthenticationMiddleware: RouterMiddleware {
    let credentials: Credentials
    let limits: RequestLimits

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.authentication = authentication(of: request, context)
        return try await next(request, context)
    }

    private func authentication(of request: Request, _ context: GatewayContext) -> Authentication {
        let given: PresentedCredential
        do throws(Problem) {
            guard let found = try PresentedCredential(of: request, isSecure: context.isSecure) else { return .anonymous }
            given = found
        } catch {
            return .invalidToken(error)
        }
        // Browsers add cookies to the requests of all pages.
        if given.kind == .cookie, !Self.readingMethods.contains(request.method), !context.isOwnOrigin {
            return .unusable(
                Problem(
                    .originRefused,
                    "A change with a cookie needs the gateway's own Origin, or Sec-Fetch-Site: same-origin. Other portals and scripts use bearer tokens.",
                    field: "Origin"))
        }
        let (client, address) = (context.client, context.clientAddress)
        switch credentials.copy(of: given.hash) {
        case .known(let credential): return authentication(by: credential, given, from: address)
        case .unknown: return authentication(by: nil, given, from: address)
        case .ask:
            return .unchecked { timeout in
                do {
                    // A flood of invented credentials must not become a flood of questions to the people service.
                    let credential = try await credentials.find(given.hash, within: timeout, for: client) {
                        try limits.countLookup(from: client)
                    }
                    return authentication(by: credential, given, from: address)
                } catch {
                    return .unusable(error)
                }
            }
        }
    }

    /// - Parameter credential: `nil` if there is none.
    private func authentication(
        by credential: Credential?, _ given: PresentedCredential, from address: String?
    ) -> Authentication {
        guard let credential else {
            return given.kind == .cookie
                ? .anonymous
                : .invalidToken(
                    Problem(.unauthenticated, "The bearer token is unknown, revoked or expired.", field: "Authorization"))
        }
        let principal = Principal(credential, hash: given.hash)
        credentials.used(principal, at: .now, from: address)
        return .account(principal)
    }

    private static let readingMethods: Set<HTTPRequest.Method> = [.get, .head, .options]
}
