import AuditTrail
import Bus
import Base
import FCM
import Logging
import Archive
package import Store
package import Schemas
import ServiceKit

extension ServicePlan {
    private static let archiveFile = "message-log.sqlite"

    /// Wires the message-logging service together.
    ///
    /// - Parameter schedule: When refused components are retried.
    static func messageLog(_ wiring: Wiring, schedule: RetrySchedule = RetrySchedule()) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let database = try settings.optional(.databaseURL, as: MongoURL.init)
        let folder = try settings.value(.stateDirectory)
        let lock = try StateLock.serving(Self.archiveFile, inMongoDB: database != nil, stateDirectory: folder)
        let store = try await openMessageStore(
            database: database, folder: folder, maxPageTime: BusTimes.maxSearchTime, logger: logger)
        if database == nil { KnownStores.remember(Self.archiveFile, in: folder) }
        let templates = try await Storage.open(
            Templates.store, at: StoragePlace(database: database, folder: folder), logger: logger)
        let bus = try Bus(settings, logger: logger)
        let transports = try settings.transports
        let fcm = try transports.contains(.fcm) ? TransportClients(of: .fcmRelay, bus: bus, settings, logger) : nil
        let webpush = try transports.contains(.webpush) ? TransportClients(of: .webpush, bus: bus, settings, logger) : nil
        let endpoint = try settings.value(.listen(.messageLog))
        let instance = try InstanceIdentity.name(in: folder, listeningAt: endpoint, logger: logger)
        let process = ProcessIdentity(of: instance, in: folder, logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.messageLog, .events)), logger: logger)
        let changes = MessageChanges(publisher: publisher, logger: logger)
        let announcer = OutboxAnnouncer(publisher: publisher, changes: changes, logger: logger)
        let canaryAccount = try settings.value(.canaryAccount)
        let canary = try settings.optional(.canaryTopic).map { MessageOrigin(topic: $0, sender: canaryAccount) }
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let outbox = Outbox(
            store: store, relay: BusRelay(fcm: fcm?.client, all: fcm?.instances, webpush: webpush?.client),
            persons: BusPersonDirectory(people: people), transports: transports,
            owner: process.owner, announcer: announcer, schedule: schedule, canary: canary,
            fanOutRate: try settings.live(.fcmFanOutRate), executor: bus.taskExecutor, logger: logger)
        let disk = DiskWatch(store: store, limit: try settings.liveOptional(.messageLogStorageLimit), logger: logger)
        let retention = Retention(
            store: store, days: try settings.live(.messageRetention), canary: canary, logger: logger)
        let audit = AuditForwarder(of: store.audit, to: people, logger: logger)
        let templateAudit = AuditForwarder(
            of: AuditQueue(of: templates), as: "template_audit", to: people, logger: logger)
        let metrics = OutboxMetrics(store: store, logger: logger)
        let health = [
            fcm.map { RelayHealth(.fcm, relays: $0.instances) }, webpush.map { RelayHealth(.webpush, relays: $0.instances) },
        ].compactMap(\.self)
        let server = try CommandServer(
            bus: bus, endpoint: endpoint,
            router: .messageLog(
                store: store, templates: templates, outbox: outbox, changes: changes, disk: disk, relays: health,
                audits: [audit, templateAudit],
                payloadLimit: PayloadLimit(bytes: settings.value(.fcmTopicPayloadLimit)),
                alertFetchDelay: settings.live(.alertFetchDelay), logger: logger),
            logger: logger)
        return ServicePlan(
            services: [
                disk, retention, audit, templateAudit,
                LeaseAdjustment(store: store, schedule: schedule, logger: logger),
                LeaseRecovery(store: store, process: process, logger: logger),
                SwitchedOffTransports(outbox: outbox),
                Expiry(store: store, announcer: announcer, logger: logger), changes, outbox,
                server,
                // The last one stops first.
                EventPublishing(publisher: publisher),
            ],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: { metrics.collect() },
            close: {
                await bus.close()
                try await templates.close()
                try await store.close()
                lock?.release()
            })
    }
}

extension SettingValues {
    /// The transports that are switched on.
    fileprivate var transports: PushTransports {
        get throws {
            var transports: PushTransports = []
            if try includes(.fcmRelay) { transports.insert(.fcm) }
            if try includes(.webpush) { transports.insert(.webpush) }
            return transports
        }
    }
}

/// The clients of the service that relays by a transport.
private struct TransportClients {
    let client: CommandClient
    /// One for each instance.
    let instances: InstanceClients

    init(of service: ServiceEntry, bus: Bus, _ settings: SettingValues, _ logger: Logger) throws {
        let endpoints = try settings.value(.endpoints(of: service))
        client = try CommandClient(bus: bus, endpoints: endpoints, logger: logger)
        instances = try InstanceClients(bus: bus, endpoints: endpoints, logger: logger)
    }
}

/// The store of the templates, beside the archive.
enum Templates {
    static let store = StoreDeclaration("templates", MessageTemplate.collection, audited: true)
}

extension MessageTemplate: StoredResource {
    package static let collection = Collection<MessageTemplate>(kind, indexes: [.unique(nameField)])
    private static let nameField = Field("name", \MessageTemplate.name)

    /// By their names.
    package static func all(in parent: Void) -> Query<MessageTemplate> { Query(order: .ascending(nameField)) }
}
