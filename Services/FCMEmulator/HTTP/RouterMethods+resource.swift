import HTTPRouting
import HTTPTypes
import Hummingbird

extension RouterMethods where Context == EmulatorRequestContext {
    typealias Handler = @Sendable (Request, EmulatorRequestContext) async throws -> Response

    /// Adds a path with its methods.
    func resource(_ path: RouterPath, _ handlers: [HTTPRequest.Method: Handler]) {
        self.path(path, handlers, policy: .emulator)
    }
}

extension MethodPolicy {
    /// HEAD and OPTIONS are methods like any other, and no path has them.
    fileprivate static let emulator = MethodPolicy(
        known: [.get, .head, .post, .put, .patch, .delete, .options], answersHeadAndOptions: false
    ) { method, allow in
        GoogleError(
            httpStatus: .methodNotAllowed, status: "UNIMPLEMENTED",
            message: "\(method.rawValue) is not served here, but \(allow).", headers: [.allow: allow])
    }
}
