import DeviceTokens
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Schemas
import ServiceKit
import ServiceLifecycle
import TestSupport

@testable import Gateway

/// Runs a test with the gateway's HTTP server in the process of the test. The test chooses the routes, the timeouts and the limits.
///
/// - Parameters:
///   - principal: The account that makes every request; by default they are anonymous.
///   - person: The person that makes every request, in place of an account.
///   - refusal: Why the person's token counts no longer after a body has arrived; by default it does.
///   - credentials: Finds the account's credential after a body has arrived; by default it has not changed.
///   - access: Who may reach the server. It listens on loopback in any case.
///   - requests: The limits of requests; by default none that a test reaches.
///   - maxConnections: The maximum number of connections.
///   - maxPerAddress: The maximum number of connections of one address.
///   - minWait: How long a connection must have waited for its client before it is closed for another.
///   - limitLogger: Gets the log lines about the connections.
///   - services: Services to run beside it.
///   - body: Gets the port.
func withRouteServer(
    _ routes: [Route], as principal: Principal? = nil, person: PersonCaller? = nil,
    refusal: @escaping @Sendable (PersonCaller) -> DeviceTokenRefusal? = { _ in nil }, credentials: CredentialLookup? = nil,
    timeouts: ConnectionTimeouts = ConnectionTimeouts(),
    access: GatewayAccess = GatewayAccess(host: .loopback), certificate: CurrentCertificate? = nil,
    requests: RequestLimits = RequestLimits(perAccount: 1_000_000, perAddress: 1_000_000), maxConnections: Int = 500,
    maxPerAddress: Int = 500, minWait: TimeAmount = .seconds(1), limitLogger: Logger? = nil, beside services: [any Service] = [],
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let limit = ConnectionLimit(
        maxConnections: maxConnections, maxPerAddress: maxPerAddress, minWait: minWait, isExempt: access.trusts,
        logger: limitLogger ?? logger)
    let router = Router.gateway(
        routes, access, allowedOrigins: [], limit: limit, requests: requests,
        authentication: FixedCallerMiddleware(
            caller: principal.map(Authentication.account) ?? person.map(Authentication.device) ?? .anonymous),
        callers: CallerCheck(lookUp: credentials ?? { _ in principal?.credential }, refusal: refusal), logger: logger)
    let (ports, port) = AsyncStream<Int>.makeStream()
    let responder = GatewayResponder(router.buildResponder(), logger: logger)
    let channel = GatewayChannel(
        responder: responder.respond, limit: limit, timeouts: timeouts, certificate: certificate,
        security: SecurityHeaders(isPublic: access.publicURL != nil))
    let server = Application(
        responder: responder.routes, server: HTTPServerBuilder { _ in channel },
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let own: [any Service] = certificate.map { [$0] } ?? []
    try await withServices(services + own + [server], port: ports, logger: logger, body)
}

/// Runs a test with services, one of which is a server.
///
/// - Parameter ports: Yields the server's port when it runs.
func withServices(
    _ services: [any Service], port ports: AsyncStream<Int>, logger: Logger,
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    let group = ServiceGroup(configuration: .init(services: services, logger: logger))
    // It is stopped gracefully also after an error, and when the test is cancelled at its time limit: a cancelled server would drop
    // connections that it has accepted and not begun to handle, and SwiftNIO traps on that.
    let running = Task { try await group.run() }
    var outcome = Result<Void, any Error>.success(())
    for await number in ports {
        do {
            try await body(number)
        } catch {
            outcome = .failure(error)
        }
        break
    }
    await group.triggerGracefulShutdown()
    try await running.value
    try outcome.get()
}

extension IPAddress {
    /// 127.0.0.1.
    static var loopback: IPAddress {
        guard let address = IPAddress("127.0.0.1") else { preconditionFailure("127.0.0.1 is an address") }
        return address
    }
}

private struct FixedCallerMiddleware: RouterMiddleware {
    let caller: Authentication

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        // A request can be anonymous nevertheless, or the people service must be asked.
        switch request.headers[.cookie] {
        case "anonymous": break
        case "unchecked": context.missingCheck = { _ in caller }
        default: context.authentication = caller
        }
        return try await next(request, context)
    }
}

extension RequestLimits {
    /// Limits that do not change.
    convenience init(perAccount: Int, perAddress: Int) {
        self.init(perAccount: LiveSetting(perAccount), perAddress: LiveSetting(perAddress))
    }
}
