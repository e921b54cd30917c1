import HTTPRouting
import HTTPTypes
import Hummingbird

extension RouterMethods where Context == GatewayContext {
    /// Adds declared routes, with the limits of their requests.
    ///
    /// - Parameters:
    ///   - limits: Count each request; one whose account becomes known only after a question to the people service also for the
    ///     account.
    ///   - lookUp: Finds the caller's credential once more after the body has arrived.
    func add(_ routes: [Route], limits: RequestLimits, credentials lookUp: @escaping CredentialLookup) {
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let handlers = Dictionary(routes.map { ($0.method, $0.authorizedHandler(lookUp, limits)) }) { _, _ in
                preconditionFailure("two routes with one method at \(path)")
            }
            let budget = routes.map(\.budget).first { $0 != .general } ?? .general
            group().add(middleware: RequestLimitMiddleware(limits: limits, budget: budget))
                .path(RouterPath(path), handlers, policy: .gateway)
        }
    }
}

extension MethodPolicy {
    /// The methods of RFC 9110, PATCH and QUERY. ``EntryMiddleware`` removes the body of a HEAD's answer.
    fileprivate static let gateway = MethodPolicy(
        known: [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch, .query], answersHeadAndOptions: true
    ) { method, allow in
        Problem(
            .methodNotAllowed, "\(method.rawValue) is not possible here; \(allow) are.", headers: [.allow: allow])
    }
}

extension HTTPRequest.Method {
    /// A GET with a body, which clients begin to use.
    fileprivate static let query: HTTPRequest.Method = {
        guard let method = HTTPRequest.Method("QUERY") else { preconditionFailure("QUERY is a valid token") }
        return method
    }()
}
