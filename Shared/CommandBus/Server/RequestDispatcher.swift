import FoundationEssentials
import JSON
import Logging
import Schemas
import ServiceContextModule

/// Turns a request into its reply: reads the header, calls the handler, and describes every failure.
struct RequestDispatcher: Sendable {
    let router: CommandRouter
    let watch: PauseWatch
    let refusals: RefusedRequests
    let maxReplyBytes: Int
    let logger: Logger

    /// Never throws: every error becomes a reply.
    nonisolated(nonsending) func answer(_ request: AcceptedRequest, now: MonotonicMilliseconds) async -> Reply {
        let shared: SharedHeader
        do {
            shared = try request.header.read()
        } catch {
            refusals.count(.malformed)
            return Reply(
                id: request.header.id, failure: CommandFailure(.invalid, "header: \(error)"))
        }
        let header = shared.fields
        guard let handler = router[header.command] else {
            refusals.count(.unknownCommand)
            let failure = CommandFailure(.invalid, "\(CommandFailure.unknownCommand) \"\(header.command)\"")
            return Reply(id: header.id, failure: failure)
        }
        let time = RequestTime(header, arrival: request.arrival, watch: watch)
        if let refusal = time.refusal(now: now) {
            refusals.count(refusal.reason)
            return Reply(id: header.id, failure: refusal.failure)
        }
        let context = CommandContext(shared, time: time, logger: logger)
        guard let traceparent = header.traceparent.flatMap({ Traceparent($0) }) else {
            return await answer(context, request.payload, handler)
        }
        return await ServiceContext.withValue(.current(changing: { $0.traceparent = traceparent })) {
            await answer(context, request.payload, handler)
        }
    }

    @inline(__always)
    nonisolated(nonsending) private func answer(
        _ context: CommandContext, _ payload: Data, _ handler: CommandRouter.Handler
    ) async -> Reply {
        let start = handler.instruments.map { _ in ContinuousClock.now }
        do {
            let result = try await handler(payload, context)
            let isTooLarge = result.count > maxReplyBytes
            if let start { handler.instruments?.record(since: start, failure: isTooLarge ? .internal : nil) }
            guard !isTooLarge else { return tooLarge(result, context) }
            return Reply(id: context.id, result: result)
        } catch {
            let failure = failure(for: error, context)
            if let start { handler.instruments?.record(since: start, failure: failure.status) }
            return Reply(id: context.id, failure: failure)
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
