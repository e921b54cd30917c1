import Bus
import CoreMetrics
import Hummingbird
import HummingbirdCore
import Instruments
import Logging
import NIOCore
import NIOPosix
import Schemas
import ServiceKit
import ServiceLifecycle

extension ServicePlan {
    /// Wires the gateway together.
    static func gateway(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let port = try settings.value(.gatewayPort)
        let passed = try PassedSocket.ofThisProcess()
        let access = try GatewayAccess(settings, passed: passed?.address)
        let certificate = try access.certificate.map { try CurrentCertificate($0, logger: logger) }

        let bus = try Bus(settings, logger: logger)
        let limit = ConnectionLimit(
            maxConnections: try settings.value(.gatewayMaxConnections),
            maxPerAddress: try settings.value(.gatewayMaxConnectionsPerAddress), isExempt: access.trusts, logger: logger)
        let features = try Features(
            bus: bus, settings: settings, certificate: certificate, maxConnections: limit.maxConnections, logger: logger)
        let kept = KeptCopies(
            in: try settings.value(.stateDirectory), credentials: features.credentials, cube: features.cube,
            broadcasts: features.broadcasts, logger: logger)
        let keptEnds = KeptEndsService(in: try settings.value(.stateDirectory), devices: features.devices, logger: logger)
        async let isRestored: Void = kept.restore()
        await keptEnds.restore()
        await isRestored
        let requests = RequestLimits(
            perAccount: try settings.live(.gatewayAccountRequests), perAddress: try settings.live(.gatewayAddressRequests))
        let router = Router.gateway(
            features.routes, access, allowedOrigins: try settings.value(.gatewayCORSOrigins), limit: limit,
            requests: requests,
            authentication: AuthenticationMiddleware(
                credentials: features.credentials, devices: features.devices, limits: requests),
            callers: CallerCheck(
                lookUp: { [credentials = features.credentials] in try await credentials.find($0) },
                refusal: { [devices = features.devices] in devices.refusal(of: $0) }),
            logger: logger)

        let listening = AsyncStream<Void>.makeStream()
        var quiet = logger
        quiet.logLevel = .notice
        let responder = GatewayResponder(router.buildResponder(), logger: quiet)
        let channel = GatewayChannel(
            responder: responder.respond, limit: limit, timeouts: ConnectionTimeouts(), certificate: certificate,
            security: SecurityHeaders(isPublic: access.publicURL != nil))
        let onServerRunning = { @Sendable (channel: any NIOCore.Channel) async in
            logger.info(
                "listening",
                metadata: [
                    "url": "\(access.localURL(port: channel.localAddress?.port ?? port))", "address": "\(access.host)",
                ])
            listening.continuation.finish()
        }
        let server: any Service =
            if let passed {
                PassedSocketServer(
                    socket: passed, connections: channel, onServerRunning: onServerRunning, logger: quiet)
            } else {
                ListeningService(
                    Application(
                        responder: responder.routes, server: HTTPServerBuilder { _ in channel },
                        configuration: .init(
                            address: .hostname(access.host.description, port: port), serverName: nil, backlog: 1_024),
                        onServerRunning: onServerRunning, logger: quiet),
                    scheme: access.scheme, host: access.host.host, hostSetting: Setting.gatewayHost.declaration, port: port,
                    of: .gatewayPort)
            }
        return ServicePlan(
            services: features.background + [kept, keptEnds] + (certificate.map { [$0] } ?? []) + [server],
            selfCheck: .gateway(bus: bus),
            collectMetrics: { Instrument.httpConnections.gauge().set(limit.count) },
            close: { await bus.close() },
            whenReady: {
                for await _ in listening.stream {}
            })
    }
}

extension SelfCheck {
    /// Uses the bus thread, the threads of the handlers, and each event loop of the HTTP server.
    fileprivate static func gateway(bus: Bus) -> SelfCheck {
        SelfCheck {
            let loops = MultiThreadedEventLoopGroup.singleton.makeIterator().enumerated().map { number, loop in
                Step("event_loop_\(number + 1)") {
                    try await loop.submit {}.get()
                    return .ok
                }
            }
            return [.busThread(of: bus), .sharedThreads] + loops
        }
    }
}

extension Router where Context == GatewayContext {
    /// A router with the routes and their middleware.
    ///
    /// - Parameters:
    ///   - authentication: Sets the context's ``GatewayContext/authentication``. Paths that have only routes for ``Right/anonymous`` do not
    ///     pass through it.
    ///   - callers: Checks the caller once more after the body has arrived.
    static func gateway(
        _ routes: [Route], _ access: GatewayAccess, allowedOrigins: [String], limit: ConnectionLimit, requests: RequestLimits,
        authentication: some RouterMiddleware<GatewayContext>, callers: CallerCheck, logger: Logger
    ) -> Router {
        let router = Router(context: GatewayContext.self)
        let entry = EntryMiddleware(access, allowedOrigins: allowedOrigins, limit: limit, logger: logger)
        func limiting(_ budget: AddressBudget) -> RequestLimitMiddleware {
            RequestLimitMiddleware(limits: requests, connections: limit, budget: budget)
        }
        // All methods of a path pass the same middleware.
        let known = Set(routes.filter { $0.right != .anonymous }.map(\.path))
        router.add(routes.filter { !known.contains($0.path) }, limits: requests, callers: callers) {
            ChainedMiddleware(entry, limiting($0))
        }
        router.add(routes.filter { known.contains($0.path) }, limits: requests, callers: callers) {
            ChainedMiddleware(entry, ChainedMiddleware(authentication, limiting($0)))
        }
        // For paths without a route. A route gets only the middleware that was added before it.
        router.add(middleware: ChainedMiddleware(entry, ChainedMiddleware(authentication, limiting(.general))))
        return router
    }
}
