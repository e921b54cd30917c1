import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import NIOHTTP2
import Schemas

/// Turns every error that a route throws into a JSON answer, so that no request ends without one.
struct ErrorResponses: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as GoogleError {
            return Response(error)
        } catch let error as HTTPParserError {
            throw error
        } catch let error as HTTPError {
            return Response(
                GoogleError(
                    httpStatus: error.status, status: error.status == .notFound ? "NOT_FOUND" : "INVALID_ARGUMENT",
                    message: error.body ?? "\(request.method.rawValue) \(request.uri.path.prefix(200)) is not served here."))
        } catch let failure as CommandFailure where failure.status == .unavailable {
            context.logger.error("a request could not be served", metadata: ["error": "\(failure)"])
            return Response(
                GoogleError(
                    httpStatus: .serviceUnavailable, status: "UNAVAILABLE", message: "The service is currently unavailable."))
        } catch is CancellationError {
            // The client has gone, or the emulator stops. The stream is reset, so that the client does not mistake this for an
            // answer.
            await Exchange.current?.resetStream(.cancel)
            return .unheard
        } catch {
            context.logger.error("a request failed", metadata: ["error": "\(error)"])
            return Response(
                GoogleError(httpStatus: .internalServerError, status: "INTERNAL", message: "Internal error encountered."))
        }
    }
}

extension RouterMethods where Context == EmulatorRequestContext {
    typealias Handler = @Sendable (Request, EmulatorRequestContext) async throws -> Response

    /// Adds a path with its methods. Every other method is answered 405 with the list of allowed ones.
    func resource(_ path: RouterPath, _ handlers: [HTTPRequest.Method: Handler]) {
        let allowed = handlers.keys.map(\.rawValue).sorted().joined(separator: ", ")
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options] {
            let refusal: Handler = { request, _ in
                throw GoogleError(
                    httpStatus: .methodNotAllowed, status: "UNIMPLEMENTED",
                    message: "\(request.method.rawValue) is not served here, but \(allowed).", headers: [.allow: allowed])
            }
            on(path, method: method, use: handlers[method] ?? refusal)
        }
    }
}
