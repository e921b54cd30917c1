import CommandBus
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceKit

extension ServicePlan {
    /// Wires the gateway together.
    static func gateway(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let port = try settings.value(.gatewayPort)
        let origins = try settings.value(.gatewayCORSOrigins)

        let bus = try Bus(logger: logger)
        let features = try Features(bus: bus, settings: settings, logger: logger)
        let limit = ConnectionLimit(maxConnections: try settings.value(.gatewayMaxConnections), logger: logger)
        let router = Router.gateway(allowedOrigins: origins, limit: limit, logger: logger)
        router.add(features.routes)

        let listening = AsyncStream<Void>.makeStream()
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            router: router,
            server: HTTPServerBuilder { GatewayChannel(responder: $0, limit: limit, timeouts: ConnectionTimeouts()) },
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil, backlog: 1_024),
            onServerRunning: { channel in
                logger.info(
                    "listening on loopback only, since there is no access control yet",
                    metadata: ["url": "http://127.0.0.1:\(channel.localAddress?.port ?? port)"])
                listening.continuation.finish()
            },
            logger: quiet)
        return ServicePlan(
            services: features.background + [ListeningService(application, scheme: "http", port: port, of: .gatewayPort)],
            close: { await bus.close() },
            whenReady: {
                for await _ in listening.stream {}
            })
    }
}

extension Router where Context == GatewayContext {
    /// A router with the middleware of all routes.
    static func gateway(allowedOrigins: [String], limit: ConnectionLimit, logger: Logger) -> Router {
        let router = Router(context: GatewayContext.self)
        router.add(middleware: HeadMiddleware())
        router.add(middleware: TraceMiddleware())
        router.add(middleware: ProblemMiddleware(logger: logger))
        router.add(middleware: OriginMiddleware(allowed: allowedOrigins))
        // OriginMiddleware has refused all other origins.
        router.add(
            middleware: CORSMiddleware(
                allowOrigin: .originBased,
                allowHeaders: [.accept, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .requestID, .traceparent],
                allowMethods: [.get, .head, .post, .put, .delete, .options],
                maxAge: .hours(1)))
        // Inside CORSMiddleware, so that the page of an allowed origin may read the problem.
        router.add(middleware: ProblemMiddleware(logger: logger))
        router.add(middleware: ConnectionLimitMiddleware(limit: limit))
        return router
    }
}
