import AuditTrail
import Bus
import FCM
import Store
import Schemas
import ServiceKit
import ServiceLifecycle

extension ServicePlan {
    /// Wires the broadcast service together.
    static func broadcast(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let store = try await Storage.open(BroadcastStore.declaration, at: place, logger: logger)
        let bus = try Bus(settings, logger: logger)
        let messageLog = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.broadcast, .events)), logger: logger)
        let version = store.repeatedSnapshot { try $0.broadcastsVersion() }
        let event = RepeatedEvent(BroadcastsChanged.name, publisher: publisher, logger: logger) {
            BroadcastsChanged(version: try await version())
        }
        let payloadLimit = PayloadLimit(bytes: try settings.value(.fcmTopicPayloadLimit))
        let pushes = BroadcastPushes(
            store: store, messageLog: messageLog, payloadLimit: payloadLimit, usesFCM: try settings.usesFCM, logger: logger)
        let log = BroadcastLog(
            store: store, language: try settings.value(.broadcastLanguage), payloadLimit: payloadLimit
        ) { version in
            event.announce(BroadcastsChanged(version: version))
            pushes.wake()
        }
        let file = try settings.optional(.broadcastFile).map { path in
            BroadcastFile(at: path, version: version, current: { try await log.current() }, logger: logger)
        }
        let audit = AuditForwarder(of: AuditQueue(of: store), to: people, logger: logger)
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.broadcast)),
            router: .broadcast(
                log, outcomes: PushOutcomes(messageLog: messageLog),
                parts: { audit.health.merging(pushes.health) { $1 }.merging(file?.health ?? [:]) { $1 } }),
            logger: logger)
        var services: [any Service] = [RepeatingService(event, logger: logger), audit, pushes, server]
        if let file { services.append(file) }
        return ServicePlan(
            services: services,
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            close: {
                await bus.close()
                await file?.close()
                try await store.close()
            })
    }
}

extension CommandRouter {
    /// The commands of the broadcast service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func broadcast(
        _ log: BroadcastLog, outcomes: PushOutcomes, parts: @escaping @Sendable () -> [String: PartHealth]
    ) -> CommandRouter {
        var router = CommandRouter(stores: [log.store], parts: { parts() })
        router.on(AddBroadcast.self) { command, context in
            try await log.add(command, sender: try context.requireActor(), by: context.author)
        }
        router.on(UpdateBroadcast.self) { try await log.update($0, by: $1.author) }
        router.on(WithdrawBroadcast.self) { try await log.withdraw($0, by: $1.author) }
        router.on(GetBroadcast.self) { command, _ in await outcomes.add(to: try await log.stored(command.id)) }
        router.on(ListBroadcasts.self) { command, _ in try await log.page(command) }
        router.on(ReadCurrentBroadcasts.self) { _, _ in try await log.current() }
        return router
    }
}
