import AuditTrail
import Bus
import Logging
import PersonPushes
import Schemas
import ServiceKit
import Store

extension ServicePlan {
    /// Wires the study service together.
    ///
    /// - Parameter now: The clock.
    static func study(
        _ wiring: Wiring, now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let store = try await Storage.open(StudyStore.declaration, at: place, logger: logger, now: now)
        let bus = try Bus(settings, logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.study, .events)), logger: logger)
        let messageLog = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger)
        let audit = AuditForwarder(of: AuditQueue(of: store), to: people, logger: logger)
        let pushes = PersonPushes(
            of: StudyStore.queuedPushes, in: store, sender: ServiceEntry.study.name, restored: .drop, messageLog: messageLog,
            logger: logger)
        let rules = try settings.studyRules()
        let changes = StudyChanges(
            store: store, events: StudyEvents(publisher: publisher, logger: logger),
            sessions: ClassSessions(store: store, rules: rules, now: now), rules: rules, now: now,
            committed: { _ in pushes.wake() })
        let study = Study(changes: changes)
        let clock = SessionClock(changes: changes, logger: logger)
        let counts = SessionCounts(changes: changes)
        let counting = RepeatingService(
            every: .seconds(60), outage: OutageLog("classes and study sessions cannot be counted", logger: logger)
        ) { try await counts.recount() }
        let pushCounts = PushCounts(store: store)
        let forgetting = Forgetting(store: store, retention: try settings.live(.studyRetention), now: now)
        let forgettingNames = RepeatingService(
            every: Forgetting.period,
            outage: OutageLog("past study sessions keep names that are to be forgotten", logger: logger)
        ) { try await forgetting.round() }
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.study)), router: .study(study, parts: { audit.health }), logger: logger)
        return ServicePlan(
            services: [audit, pushes, clock, counting, forgettingNames, server],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: {
                counts.collectMetrics()
                clock.collectMetrics()
                await pushCounts.collectMetrics()
            },
            close: {
                await bus.close()
                try await store.close()
            })
    }
}

extension CommandRouter {
    /// The commands of the study service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func study(_ study: Study, parts: @escaping @Sendable () -> [String: PartHealth]) -> CommandRouter {
        var router = CommandRouter(stores: [study.changes.store], parts: { parts() })
        router.on(ReadStudyRules.self) { _, _ in study.changes.rules() }
        router.serveClasses(study)
        router.serveClassKeys(study)
        router.serveRoster(study)
        router.serveSessions(study)
        router.serveSessionChanges(study)
        router.serveNear(study)
        router.serveHistory(study)
        router.servePosts(study)
        router.serveInvites(study)
        router.servePersons(study)
        router.serveCounts(study)
        return router
    }
}

/// The parts that the command handlers share.
struct Study: Sendable {
    let changes: StudyChanges

    var classSessions: ClassSessions { changes.sessions }
}
