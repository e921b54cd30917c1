import HTTPRouting
import HTTPTypes
import Hummingbird

extension Router where Context == GatewayContext {
    /// Adds every declared route.
    func add(_ routes: [Route]) {
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let handlers = Dictionary(routes.map { ($0.method, $0.handler) }) { _, _ in
                preconditionFailure("two routes with one method at \(path)")
            }
            self.path(RouterPath(path), handlers, policy: .gateway)
        }
    }
}

extension MethodPolicy {
    /// The methods of RFC 9110 and PATCH. ``HeadMiddleware`` removes the body of a HEAD's answer.
    fileprivate static let gateway = MethodPolicy(
        known: [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch], answersHeadAndOptions: true
    ) { method, allow in
        Problem(
            .methodNotAllowed, "\(method.rawValue) is not possible here; \(allow) are.", headers: [.allow: allow])
    }
}
