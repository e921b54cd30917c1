import HTTPTypes
import Hummingbird
import JSON
import Logging
import NIOCore
import Schemas

/// Turns every failure of a request into a problem document.
struct ProblemAnswers: Sendable {
    let logger: Logger

    func response(to error: any Error, requestID: String) throws -> Response {
        let problem = problem(for: error)
        // A person who reports a request id must find it in the log. Refusals are too many for the default level.
        let isOutage = [.serviceUnavailable, .serviceTimeout].contains(problem.kind)
        logger.log(
            level: isOutage ? .info : .debug, "refused a request",
            metadata: ["type": "\(problem.kind.rawValue)", "detail": "\(problem.detail)"])
        return try problem.response(requestID: requestID)
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
