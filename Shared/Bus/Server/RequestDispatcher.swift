import CoreMetrics
import FoundationEssentials
import Instruments
import Base
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

/// The content of a reply's two frames.
struct Reply: Sendable {
    let header: ReplyHeader
    let payload: Data

    /// The maximum length of a failure's message, in characters.
    private static let maxMessageBytes = 1_000

    init(id: String, result: Data) {
        header = ReplyHeader(id: id, status: .ok)
        payload = result
    }

    init(id: String, failure: CommandFailure) {
        // The client would mistake a failure with the status `ok` for the command's result.
        let status = failure.status == .ok ? .internal : failure.status
        header = ReplyHeader(id: id, status: status)
        var json = JSONBytes(capacity: 256)
        json.append("{")
        if let field = failure.field {
            json.append("\"field\":")
            json.append(text: String(field.unicodeScalars.prefix(Self.maxMessageBytes)))
            json.append(",")
        }
        json.append("\"message\":")
        json.append(text: String(failure.message.unicodeScalars.prefix(Self.maxMessageBytes)))
        if let retryAfter = failure.retryAfter {
            json.append(",\"retry_after\":")
            json.append(retryAfter.rawValue)
        }
        json.append("}")
        payload = json.data()
    }
}

/// Counts the requests that a server refuses before a handler runs, by reason.
struct RefusedRequests: Sendable {
    enum Reason: String, CaseIterable, Sendable {
        /// Not a header and a payload, or a header that cannot be read.
        case malformed
        case tooLarge = "too_large"
        case unknownCommand = "unknown_command"
        /// Its deadline passed before the work began.
        case deadlineExceeded = "deadline_exceeded"
        /// Too many requests are under way.
        case overloaded
        /// The service is stopping.
        case stopping
        /// The process did not run for a while.
        case paused
    }

    /// All counters exist from the start, so that Prometheus sees an increase from 0.
    private let counters = Dictionary(
        uniqueKeysWithValues: Reason.allCases.map { ($0, Instrument.busRefusedRequests.counter(["reason": $0.rawValue])) })

    func count(_ reason: Reason) {
        counters[reason]?.increment()
    }
}
