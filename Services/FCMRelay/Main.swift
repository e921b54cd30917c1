import Bus
import FCM
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .fcmRelay,
            check: { wiring in
                let projects = try await ProjectFactory(settings: wiring.settings, logger: wiring.logger).projects()
                for project in projects.all { await project.close() }
            },
            wire: ServicePlan.fcmRelay)
    }
}

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
        // Each project's own limits are reached before this one.
        limits.maxInFlight = (Project.maxInFlight + Project.maxPushes + 1) * projects.all.count
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

/// Runs the relay: answers commands and, when it stops, all accepted ones.
struct RelayService: Service {
    let server: CommandServer
    let projects: [Project]
    /// The maximum duration of the stop. No request to FCM begins in its last part, so that each request is answered.
    var timeToFinish = DeliveryTimes.relayStopTimeout

    func run() async throws {
        for project in projects { project.prepare() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                let timeToBegin = max(.zero, timeToFinish - DeliveryTimes.fcmRequestTimeout)
                try await Task.sleep(for: timeToBegin)
                for project in projects { project.stopSending() }
                try await Task.sleep(for: timeToFinish - timeToBegin)
                for project in projects { await project.close() }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
