import Bus
import CoreMetrics
import HTTPTypes
import Hummingbird
import Instruments
import Logging
import ServiceContextModule
import ServiceKit
import Synchronization

/// The first steps of each request, before its credential is checked: its id, its client, its origin, and the limit of connections.
/// Turns every failure into a problem document, and removes the body of an answer to `HEAD`, which a client would read as the next
/// response.
struct EntryMiddleware: RouterMiddleware {
    private let client: ClientCheck
    private let origin: OriginCheck
    private let limit: ConnectionLimit
    private let problems: ProblemAnswers
    private let instruments: RequestInstruments?
    /// ``OriginCheck`` has refused foreign origins before.
    private let cors = CORSMiddleware<GatewayContext>(
        allowOrigin: .originBased,
        allowHeaders: [
            .accept, .authorization, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .requestID,
            .traceparent,
        ],
        allowMethods: [.get, .head, .post, .put, .delete, .options],
        maxAge: .hours(1))

    init(_ access: GatewayAccess, allowedOrigins: [String], limit: ConnectionLimit, logger: Logger) {
        client = ClientCheck(access: access)
        origin = OriginCheck(allowed: allowedOrigins, publicURL: access.publicURL)
        self.limit = limit
        problems = ProblemAnswers(logger: logger)
        instruments = RequestInstruments()
    }

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let start = instruments.map { _ in ContinuousClock.now }
        let traceparent = Traceparent(of: request)
        let work = ServiceContext.current { $0.traceparent = traceparent }
        var response = try await ServiceContext.withValue(work) {
            do {
                var context = context
                try client.check(request, &context)
                try origin.check(request, &context)
                guard !request.headers.contains(.origin) else { return try await answerOrigin(request, context, next) }
                return try await answer(request, context, next)
            } catch {
                return try problems.response(to: error, requestID: traceparent.traceID)
            }
        }
        response.headers[.requestID] = traceparent.traceID
        if let instruments, let start {
            instruments.record(request.method, route: context.endpointPath, response.status, since: start)
        }
        return request.method == .head ? response.withoutBody : response
    }

    private func answer(
        _ request: Request, _ context: GatewayContext, _ next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard try limit.check(request, on: context.channel) else { return try await next(request, context) }
        var response = try await next(request, context)
        response.headers[.connection] = "close"
        return response
    }

    /// Answers the page of an allowed origin, which may also read a problem.
    private func answerOrigin(
        _ request: Request, _ context: GatewayContext, _ next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var response = try await cors.handle(request, context: context) { request, context in
            do {
                return try await answer(request, context, next)
            } catch {
                return try problems.response(to: error, requestID: context.requestID)
            }
        }
        response.headers[.accessControlExposeHeaders] = OriginCheck.exposed
        return response
    }
}

extension Response {
    /// The answer to HEAD. Hummingbird's own answer describes a body of unknown length as empty.
    fileprivate var withoutBody: Response {
        var head = createHeadResponse()
        head.headers[.contentLength] = headers[.contentLength]
        return head
    }
}

/// Counts the gateway's answers, and measures the time to their heads.
final class RequestInstruments: Sendable {
    private struct Kind: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private let series = Mutex<[Kind: (count: Counter, duration: CoreMetrics.Timer)]>([:])

    /// The most frequent ones first.
    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .head, .options]

    /// - Returns: `nil` if the process has no port for metrics.
    init?() {
        guard !(MetricsSystem.factory is NOOPMetricsHandler) else { return nil }
    }

    /// Hummingbird's name of the route for a path without a route.
    private static let noRoute = "NotFound"

    /// - Parameter route: The path of the route; `nil` if the request was refused before routing.
    func record(_ method: HTTPRequest.Method, route: String?, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant)
    {
        // A client chooses the method and the path, so only known ones are labels.
        let kind = Kind(
            method: Self.methods.contains(method) ? method.rawValue : "other",
            route: route.flatMap { $0 == Self.noRoute ? nil : $0 } ?? "none", status: status.code)
        let (count, duration) = series.withLock { series in
            if let known = series[kind] { return known }
            let made = (
                Instrument.httpRequests.counter(["method": kind.method, "route": kind.route, "status": "\(kind.status)"]),
                Instrument.httpRequestDuration.timer(["method": kind.method, "route": kind.route])
            )
            series[kind] = made
            return made
        }
        count.increment()
        duration.record(since: start)
    }
}

extension Traceparent {
    /// The trace of a request. Its id is the request id, returned as `X-Request-Id`.
    ///
    /// A caller may choose the id: in a W3C `traceparent`, or as an `X-Request-Id` of 32 hexadecimal digits or a UUID. Anything
    /// else is replaced, so that ids in the log are short and harmless. A `tracestate` is not read: it is meant for later systems
    /// in the trace, and the trace ends at the hub.
    init(of request: Request) {
        if let given = request.headers.value(of: .traceparent).flatMap({ Traceparent($0) }) {
            self.init(following: given)
        } else if let requestID = request.headers.value(of: .requestID).map({ $0.lowercased().filter { $0 != "-" } }),
            let named = Traceparent(traceID: requestID)
        {
            self = named
        } else {
            self.init()
        }
    }
}
