package import HTTPTypes
package import Hummingbird

extension RouterMethods {
    /// Adds a path with all its methods. Every other known method is answered with 405 and `Allow` (RFC 9110, 15.5.6).
    ///
    /// - Parameters:
    ///   - handlers: The handler of each method. HEAD uses the handler of GET if the policy answers HEAD.
    ///   - policy: What the server does with the other methods.
    package func path(
        _ path: RouterPath, _ handlers: [HTTPRequest.Method: @Sendable (Request, Context) async throws -> Response],
        policy: MethodPolicy
    ) {
        let allowed = policy.allowed(handlers.keys)
        let allow = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        for (method, handler) in handlers {
            on(path, method: method, use: handler)
        }
        for method in policy.known.union(allowed) where handlers[method] == nil {
            if !allowed.contains(method) {
                on(path, method: method) { _, _ -> Response in throw policy.refusal(method, allow) }
            } else if method == .head, let get = handlers[.get] {
                on(path, method: method, use: get)
            } else {
                on(path, method: method) { _, _ in Response(status: .noContent, headers: [.allow: allow]) }
            }
        }
    }
}
