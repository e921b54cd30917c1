import AuditTrail
import Bus
import Base
import FoundationEssentials
import Logging
import PersonPushes
import Store
import Schemas
import ServiceKit

extension ServicePlan {
    /// Wires the people service together.
    ///
    /// - Parameters:
    ///   - hashing: Hashes the passwords. The plan closes it.
    ///   - keys: The keys of providers, instead of those that they publish.
    ///   - now: The clock.
    static func people(
        _ wiring: Wiring, hashing: PasswordHashing = PasswordHashing(), times: ProviderTimes = ProviderTimes(),
        keys: [IdentityProvider: any KeySource] = [:], now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let folder = try settings.value(.stateDirectory)
        let place = StoragePlace(database: try settings.optional(.databaseURL, as: MongoURL.init), folder: folder)
        let heads = AuditHeadFile(stateDirectory: folder)
        if place.isFolder { try requireFirstStart(in: folder, heads) }
        let store = try await Storage.open(PeopleStore.declaration, at: place, logger: logger, now: now)
        let bus = try Bus(settings, logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.people, .events)), logger: logger)
        let event = RepeatedEvent(
            PeopleChanged.name, publisher: publisher, logger: logger,
            read: store.repeatedSnapshot { try PeopleChanged.latest(in: $0) })
        let deviceEvent = RepeatedEvent(
            DevicesChanged.name, publisher: publisher, logger: logger,
            read: store.repeatedSnapshot { try DevicesChanged.latest(in: $0) })
        let openID = try OpenIDSettings(settings).map {
            OpenIDSignIn(settings: $0, times: times, store: store, logger: logger)
        }
        let deferred = DeferredAuditEntries(store: store, logger: logger)
        let changes = PeopleChanges(
            store: store, event: event, deviceEvent: deviceEvent, issuer: openID?.settings.issuer, now: now)
        let providers = Providers(
            try ProviderSettings(settings), openID: openID, times: times, keys: keys, store: store,
            logger: logger)
        let clients = try ErasureDocument.others.map { entry in
            Erasures.Other(
                name: entry.name,
                client: try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: entry)), logger: logger))
        }
        let erasures = Erasures(
            store: store, changes: changes, log: ErasureLog(stateDirectory: folder), others: clients, logger: logger)
        let messageLog = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger)
        let people = People(
            store: store, passwords: PasswordCheck(hashing: hashing, store: store, audit: deferred, logger: logger),
            changes: changes, heads: heads, challenges: Challenges(store: store, now: now),
            deviceTokens: DeviceTokens(changes: changes, logger: logger), providers: providers,
            signIns: SignInLimits(), registrations: RegistrationLimits(),
            personEvents: PersonEvents(publisher: publisher, logger: logger),
            personPushes: PersonPushes(
                of: PeopleStore.queuedPushes, in: store, sender: ServiceEntry.people.name, restored: .hold,
                messageLog: messageLog, logger: logger),
            erasures: erasures,
            unused: try UnusedAccounts(changes: changes, erasures: erasures, settings: settings, logger: logger))
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.people)), router: .people(people, openID), logger: logger)
        let headLog = AuditHeadLog(store: store, file: heads, logger: logger)
        let known = KnownSignIns(store: store, passwords: people.passwords, logger: logger)
        let counts = PersonCounts(store: store)
        let counting = RepeatingService(
            every: .seconds(300), outage: OutageLog("students and devices cannot be counted", logger: logger)
        ) { try await counts.recount() }
        return ServicePlan(
            services: [
                RepeatingService(event, logger: logger), RepeatingService(deviceEvent, logger: logger), headLog, known, deferred,
                people.deviceTokens, people.personPushes, people.erasures, people.unused, counting, server,
            ],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: {
                counts.collectMetrics()
                await providers.collectMetrics()
            },
            close: {
                await bus.close()
                await hashing.close()
                try await openID?.provider.close()
                try await providers.close()
                try await store.close()
            })
    }
}

extension ServicePlan {
    /// Refuses to create a new `people.sqlite` if the operator's token or the logged audit hashes show that there were accounts. Both are
    /// made after the first start of this service.
    ///
    /// - Throws: ``LostStore`` if the database is missing although there were accounts.
    private static func requireFirstStart(in folder: String, _ heads: AuditHeadFile) throws {
        guard !FileManager.default.fileExists(atPath: folder + "/people.sqlite") else { return }
        let token = folder + "/token"
        let left = FileManager.default.fileExists(atPath: token) ? token : heads.newest == nil ? nil : heads.path
        guard let left else { return }
        throw LostStore(
            "\(folder)/people.sqlite is gone, and \(left) shows that there were accounts. msi restore brings a backup back; to begin without it, "
                + "remove token and audit-heads.log from \(folder)")
    }
}

extension CommandRouter {
    /// The commands of the people service.
    static func people(_ people: People, _ openID: OpenIDSignIn?) -> CommandRouter {
        var router = CommandRouter(stores: [people.store])
        router.serveSetup(people)
        router.serveAccounts(people)
        router.serveSecondFactors(people)
        router.serveSignIns(people)
        router.serveInvitations(people)
        router.serveOpenID(openID, people)
        router.serveTokens(people)
        router.serveCredentials(people)
        router.serveAccessCodes(people)
        router.serveDevices(people)
        router.serveProfiles(people)
        router.serveFriends(people)
        router.serveErasure(people)
        router.serveAudit(people.store)
        return router
    }
}

/// The parts that the command handlers share.
struct People: Sendable {
    let store: Storage
    let passwords: PasswordCheck
    let changes: PeopleChanges
    /// The newest entries of the audit log, outside of the database.
    let heads: AuditHeadFile
    /// What devices sign.
    let challenges: Challenges
    let deviceTokens: DeviceTokens
    let providers: Providers
    let signIns: SignInLimits
    let registrations: RegistrationLimits
    let personEvents: PersonEvents
    let personPushes: PersonPushes
    let erasures: Erasures
    let unused: UnusedAccounts
}
