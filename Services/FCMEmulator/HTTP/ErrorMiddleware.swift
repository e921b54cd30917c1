import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import Schemas

/// Turns every error that a route throws into a JSON answer, so that no request ends without one.
struct ErrorMiddleware: RouterMiddleware {
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
            // The client has gone, or the emulator stops. The stream is reset, so that the client does not mistake
            // this for an answer.
            await Exchange.current?.resetStream(.cancel)
            return .unanswerable
        } catch  where Self.isClientsFault(error) {
            context.logger.debug("a client has broken off its request, or the protocol", metadata: ["error": "\(error)"])
            await Exchange.current?.resetStream(.cancel)
            return .unanswerable
        } catch {
            context.logger.error("a request failed", metadata: ["error": "\(error)"])
            return Response(
                GoogleError(httpStatus: .internalServerError, status: "INTERNAL", message: "Internal error encountered."))
        }
    }

    /// Whether reading a request has failed because of its client.
    static func isClientsFault(_ error: any Error) -> Bool {
        error is any NIOHTTP2Error || error is ChannelError || error is NIOSSLError || error is IOError
    }
}
