import HTTPTypes
import Hummingbird

extension Router where Context == GatewayContext {
    typealias Handler = @Sendable (Request, GatewayContext) async throws -> Response

    /// Adds a path with its methods. Every other method is answered with 405 and `Allow` (RFC 9110).
    func path(_ path: RouterPath, _ handlers: [HTTPRequest.Method: Handler]) {
        var allowed = Set(handlers.keys)
        if allowed.contains(.get) { allowed.insert(.head) }
        allowed.insert(.options)
        let allow = allowed.map(\.rawValue).sorted().joined(separator: ", ")

        for (method, handler) in handlers {
            on(path, method: method, use: handler)
        }
        if let get = handlers[.get] {
            // HeadMiddleware removes the body.
            on(path, method: .head, use: get)
        }
        on(path, method: .options) { _, _ in
            Response(status: .noContent, headers: [.allow: allow])
        }
        for method in Self.methods.subtracting(allowed) {
            on(path, method: method) { request, _ -> Response in
                throw Problem(
                    .methodNotAllowed, "\(request.method.rawValue) is not possible here; \(allow) are.",
                    headers: [.allow: allow])
            }
        }
    }

    /// The methods of RFC 9110, and PATCH. Any other method is answered like an unknown path.
    private static var methods: Set<HTTPRequest.Method> {
        [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
    }
}
