import HTTPTypes
import Hummingbird
import JSON
import Logging
import NIOCore
import Schemas

/// Turns every failure of a request into a problem document.
struct ProblemMiddleware: RouterMiddleware {
    let logger: Logger

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return try problem(for: error).response(requestID: context.requestID)
        }
    }

    private func problem(for error: any Error) -> Problem {
        switch error {
        case let problem as Problem:
            return problem
        case let violation as SchemaViolation:
            return Problem(violation)
        case let failure as CommandFailure:
            if failure.status == .internal { logger.error("a service failed", metadata: ["error": "\(failure)"]) }
            return Problem(failure)
        case is NIOTooManyBytesError:
            return Problem(.bodyTooLarge, "A body may have at most \(RequestBody.maxBytes) bytes.")
        case let error as any HTTPResponseError where error.status == .notFound:
            return Problem(.notFound, "The path does not exist.")
        default:
            logger.error("a request failed", metadata: ["error": "\(error)"])
            return Problem(.internalError, "The gateway's log says more about this request id.")
        }
    }
}
