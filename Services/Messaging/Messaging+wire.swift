import AuditTrail
import Bus
import Logging
import PersonPushes
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

extension ServicePlan {
    /// Wires the messaging service together.
    ///
    /// - Parameter now: The clock.
    static func messaging(
        _ wiring: Wiring, now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let store = try await Storage.open(
            MessagingStore.declaration, at: place, limit: settings.storageLimit(of: .messaging), logger: logger, now: now)
        let bus = try Bus(settings, logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.messaging, .events)), logger: logger)
        let messageLog = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger)
        let audit = AuditForwarder(of: AuditQueue(of: store), to: people, logger: logger)
        let pushes = PersonPushes(
            of: MessagingStore.queuedPushes, in: store, sender: ServiceEntry.messaging.name, restored: .drop,
            messageLog: messageLog, logger: logger)
        let traces = Traces(of: store, logger: logger)
        let changes = MessagingChanges(
            store: store, events: MessagingEvents(publisher: publisher, logger: logger), rules: try settings.messagingRules(),
            now: now,
            committed: { outcome in
                if outcome.hasRemoved { traces.removed() }
                if outcome.hasPushes { pushes.wake() }
            })
        let digests = MessageDigests(store: store)
        let removed = RemovedMessages(stateDirectory: try settings.value(.stateDirectory))
        let removals = Removals(
            changes: changes, digests: digests, log: removed, people: people, traces: traces, isAlone: place.isFolder,
            logger: logger)
        let calls = CallCounts(changes: changes, logger: logger)
        let storingCalls = RepeatingService(
            every: CallCounts.period, outage: OutageLog("calls are counted and cannot be stored", logger: logger)
        ) { try await calls.store() }
        let counts = MessagingCounts(changes: changes, calls: calls, removals: removals)
        let counting = RepeatingService(
            every: MessagingCounts.period, outage: OutageLog("messages and reports cannot be counted", logger: logger)
        ) { try await counts.recount() }
        let messaging = Messaging(
            changes: changes, relations: Relations(people: people), sends: MinuteCounts(now: now), polls: PollLimits(now: now),
            digests: digests, removal: removals.messages, restored: removals.restored, calls: calls, counts: counts)
        let hasLooked = await removals.begin()
        let endings = StatusLoop(changes: changes)
        let removingEnded = RepeatingService(
            every: StatusLoop.period, outage: OutageLog("ended statuses and unused pictures cannot be removed", logger: logger)
        ) { try await endings.round() }
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.messaging)),
            router: .messaging(
                messaging, pictures: PictureRoom(store: store, rules: changes.rules, logger: logger),
                parts: { audit.health.merging(calls.health) { $1 } }),
            logger: logger)
        var services: [any Service] = [audit, pushes]
        services += removals.services(hasLooked: hasLooked)
        services += [removingEnded, storingCalls, counting, server] as [any Service]
        return ServicePlan(
            services: services,
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: { counts.collectMetrics() },
            close: {
                await calls.storeLast()
                await bus.close()
                await removed.close()
                try await store.close()
            })
    }
}

extension CommandRouter {
    /// The commands of the messaging service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func messaging(
        _ messaging: Messaging, pictures: PictureRoom, parts: @escaping @Sendable () -> [String: PartHealth]
    ) -> CommandRouter {
        var router = CommandRouter(
            stores: [messaging.changes.store], parts: { await pictures.health().merging(parts()) { $1 } },
            usage: { await pictures.usage() })
        router.serveMessages(messaging)
        router.serveChoices(messaging)
        router.servePictures(messaging)
        router.serveStatuses(messaging)
        router.serveReports(messaging)
        router.servePersons(messaging)
        router.serveCounts(messaging)
        return router
    }
}

/// The parts that the command handlers share.
struct Messaging: Sendable {
    let changes: MessagingChanges
    /// Who may write to whom.
    let relations: Relations
    /// The messages and statuses that persons have sent within a minute.
    let sends: MinuteCounts
    let polls: PollLimits
    let digests: MessageDigests
    let removal: MessageRemoval
    let restored: RestoredMessages
    let calls: CallCounts
    let counts: MessagingCounts
}
