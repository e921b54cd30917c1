import CommandBus
import FCM
import Logging
import Schemas
import ServiceKit

extension ServicePlan {
    /// Wires the FCM relay together. FCM and the token endpoint need not be reachable yet.
    static func fcmRelay(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let limit = try PayloadLimit(bytes: settings.value(.fcmTopicPayloadLimit))
        let listen = try settings.value(.listen(.fcmRelay))
        let projects = try await ProjectFactory(settings: settings, logger: logger).projects()
        var limits = ServerLimits()
        limits.drainTimeout = DeliveryTimes.relayDrainTimeout
        // Each project's own limit is reached before this one.
        limits.maxInFlight = Project.maxInFlight * projects.all.count + projects.all.count
        let messages = RelayHandler(projects: projects, limit: limit, now: { .now })
        let pushes = PushHandler(projects: projects, limit: limit, now: { .now })
        let bus = try Bus(settings, logger: logger)
        let server: CommandServer
        do {
            server = try CommandServer(
                bus: bus, endpoint: listen, router: .relay(messages, pushes, TopicHandler(projects: projects)), limits: limits,
                logger: logger)
        } catch {
            await bus.close()
            throw error
        }
        logger.info("listening", metadata: ["endpoint": "\(server.endpoint)", "projects": "\(projects.all.count)"])
        return ServicePlan(
            services: [RelayService(server: server, projects: projects.all)],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: { for project in projects.all { project.collectMetrics() } },
            close: {
                await bus.close()
                for project in projects.all { await project.close() }
            })
    }
}
