package import HTTPTypes
package import Hummingbird

/// How a server answers the methods that a path does not declare.
package struct MethodPolicy: Sendable {
    /// The methods that the server knows. It answers any other method like an unknown path.
    package let known: Set<HTTPRequest.Method>
    /// Whether each path answers OPTIONS (204 and `Allow`), and each path with GET also HEAD. The server removes the
    /// body of the latter.
    package let answersHeadAndOptions: Bool
    /// The error for a known method that the path does not have, answered with 405. `allow` is the value of the `Allow` header.
    package let refusal: @Sendable (_ method: HTTPRequest.Method, _ allow: String) -> any Error

    package init(
        known: Set<HTTPRequest.Method>, answersHeadAndOptions: Bool,
        refusal: @escaping @Sendable (_ method: HTTPRequest.Method, _ allow: String) -> any Error
    ) {
        self.known = known
        self.answersHeadAndOptions = answersHeadAndOptions
        self.refusal = refusal
    }

    /// All methods that a path answers without 405.
    func allowed(_ declared: some Sequence<HTTPRequest.Method>) -> Set<HTTPRequest.Method> {
        var allowed = Set(declared)
        guard answersHeadAndOptions else { return allowed }
        if allowed.contains(.get) { allowed.insert(.head) }
        allowed.insert(.options)
        return allowed
    }
}

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
