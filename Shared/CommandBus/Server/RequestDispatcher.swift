import FoundationEssentials
import Logging
import Schemas
import ServiceContextModule

/// Turns a request into its reply: reads the header, finds the handler, puts every failure into words.
struct RequestDispatcher: Sendable {
    let router: CommandRouter
    let maxReplyBytes: Int
    let logger: Logger

    /// Never throws: whatever happens is an answer.
    nonisolated(nonsending) func answer(header received: ReceivedHeader, payload: Data, now: UnixMilliseconds) async
        -> Reply
    {
        let shared: SharedHeader
        do {
            shared = try received.read()
        } catch {
            return Reply(
                id: received.id, failure: CommandFailure(.invalid, "header: \(error)"))
        }
        let header = shared.fields
        guard let handler = router[header.command] else {
            return Reply(id: header.id, failure: CommandFailure(.invalid, "unknown command \"\(header.command)\""))
        }
        if let deadline = header.deadline, deadline <= now {
            return Reply(
                id: header.id, failure: CommandFailure(.deadlineExceeded, "the deadline passed before the work began"))
        }
        guard let traceparent = header.traceparent.flatMap(Traceparent.init) else {
            return await answer(shared, payload, handler)
        }
        return await ServiceContext.withValue(.current(changing: { $0.traceparent = traceparent })) {
            await answer(shared, payload, handler)
        }
    }

    @inline(__always)
    nonisolated(nonsending) private func answer(_ header: SharedHeader, _ payload: Data, _ handler: CommandRouter.Handler) async
        -> Reply
    {
        let context = CommandContext(header, logger: logger)
        do {
            let result = try await handler(payload, context)
            guard result.count <= maxReplyBytes else { return tooLarge(result, context) }
            return Reply(id: header.fields.id, result: result)
        } catch {
            return Reply(id: header.fields.id, failure: failure(for: error, context))
        }
    }

    private func failure(for error: any Error, _ context: CommandContext) -> CommandFailure {
        switch error {
        case let failure as CommandFailure: return failure
        case let violation as SchemaViolation: return CommandFailure(violation)
        case is CancellationError where Task.isCancelled:
            return CommandFailure(.unavailable, "the service is stopping, outcome unknown")
        default:
            context.logger.error("a command failed", metadata: ["error": "\(String(reflecting: error).prefix(2_000))"])
            return CommandFailure(.internal, "\(context.command) failed; the service's log says more (\(context.id))")
        }
    }

    private func tooLarge(_ result: Data, _ context: CommandContext) -> Reply {
        context.logger.error(
            "a reply is too large", metadata: ["bytes": "\(result.count)", "limit": "\(maxReplyBytes)"])
        return Reply(
            id: context.id, failure: CommandFailure(.internal, "the reply has \(result.count) bytes, which is too many"))
    }
}
