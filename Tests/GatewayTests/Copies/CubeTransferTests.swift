import Bus
import Store
import Schemas
import ServiceLifecycle
import TestSupport
import Testing

@testable import Cube
@testable import Gateway

/// How often the whole cube is moved to the gateway. A cube service and a gateway's copy run in the process of the test.
@Suite("Transfers of the cube", .timeLimit(.minutes(10)))
struct CubeTransferTests {
    private struct Services: Sendable {
        let store: CubeStore
        /// Edits of another gateway.
        let client: CommandClient
        let cube: CubeService
        let transfers: Counter

        /// Waits until the copy is the cube.
        func expectCopy() async throws {
            let snapshot = try await store.snapshot()
            try await eventually { cube.kept?.version == snapshot.version }
            #expect(cube.kept?.channels == snapshot.channels)
            #expect(try await cube.current().channels == snapshot.channels)
        }
    }

    /// - Parameters:
    ///   - gapTimeout: How long edits may be missing, before the cube is moved.
    ///   - prepare: Called before the services run.
    private func withServices(
        _ kind: StoreKind, gapTimeout: Duration, prepare: (Services) async throws -> Void = { _ in },
        _ body: (Services) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL()
            let store = try await CubeStore(
                at: StoragePlace(database: try url.map { try MongoURL($0) }, folder: folder),
                sizeLimit: CubeSizeLimit(bytes: 8 << 20), logger: quietLogger)
            try await perform {
                try await withBus { bus in
                    try await withServices(of: store, bus, gapTimeout, prepare, body)
                }
            } finally: {
                try await store.close()
            }
        }
    }

    private func withServices(
        of store: CubeStore, _ bus: Bus, _ gapTimeout: Duration, _ prepare: (Services) async throws -> Void,
        _ body: (Services) async throws -> Void
    ) async throws {
        let publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
        let announcer = RepeatedEvent(CubeChanged.name, publisher: publisher, logger: quietLogger) {
            try await store.announced()
        }
        let transfers = Counter()
        let reader = CubeReader(store: store)
        var router = CommandRouter()
        router.edit(store, announcer)
        router.on(ReadCube.self) { command, _ in
            let reply = try ReadCube.reply(payload: await reader.read(command))
            if reply.channels != nil || reply.pages != nil { transfers.add() }
            return reply
        }
        let server = try CommandServer(bus: bus, endpoint: "tcp://127.0.0.1:0", router: router, logger: quietLogger)
        var limits = ClientLimits()
        // A hundred edits at once may take longer on a busy machine than callers wait.
        limits.requestTimeout = .seconds(60)
        let client = try CommandClient(bus: bus, endpoints: [server.endpoint], limits: limits, logger: quietLogger)
        let version = try FollowedVersion<CubeChanged>(bus: bus, endpoints: [publisher.endpoint], logger: quietLogger)
        let cube = CubeService(client: client, version: version, grace: .seconds(600), gapTimeout: gapTimeout)
        let services = Services(store: store, client: client, cube: cube, transfers: transfers)
        try await prepare(services)
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            for service in cube.background { group.addTask { try await service.run() } }
            group.addTask {
                while (try? await Task.sleep(for: .seconds(1))) != nil { try await announcer.announceState() }
            }
            // The subscription works once a version is heard.
            try await eventually {
                try await announcer.announceState()
                return version.confirmation(of: try await store.version()) != nil
            }
            try await body(services)
            group.cancelAll()
        }
    }

    @Test(
        "An edit through this gateway or another one moves the whole cube nowhere, and the kept copy has it",
        arguments: StoreKind.allCases)
    func none(_ kind: StoreKind) async throws {
        try await withServices(kind, gapTimeout: .seconds(600)) { services in
            let caller = CallerContext(actor: "ann")
            let channel = try await services.cube.edit(AddChannel(channel: NamedDraft(name: "C", desc: "")), for: caller).value.id
            try await services.expectCopy()
            let before = services.transfers.count
            let area = try await services.client.request(
                AddArea(channelID: channel, area: NamedDraft(name: "A", desc: ""))
            ).value.id
            try await services.expectCopy()
            let draft = SubjectDraft(name: "S", desc: "", opt: SubjectOptions(level: .forced, distribution: .alert))
            let subject = try await services.cube.edit(
                AddSubject(channelID: channel, areaID: area, subject: draft), for: caller
            ).value
            try await services.expectCopy()
            for number in 0..<20 {
                let named = NamedDraft(name: "\(number)", desc: "")
                _ = try await services.client.request(UpdateArea(channelID: channel, areaID: area, area: named))
                _ = try await services.cube.edit(UpdateChannel(channelID: channel, channel: named), for: caller)
                #expect(try await services.cube.current().channels.first?.name == named.name)
            }
            try await services.expectCopy()
            _ = try await services.client.request(
                DeleteSubject(channelID: channel, areaID: area, subjectID: subject.id))
            try await services.expectCopy()
            #expect(try await services.cube.subject(of: subject.topicKey) == nil)
            #expect(services.transfers.count == before)
        }
    }

    @Test("A version that no event has told with its edit moves the cube once")
    func unknown() async throws {
        try await withServices(.sqlite, gapTimeout: .seconds(3)) { services in
            _ = try await services.client.request(AddChannel(channel: NamedDraft(name: "C", desc: "")))
            try await services.expectCopy()
            let before = services.transfers.count
            // Another instance of the cube service has made it.
            let other = AddChannel(channel: NamedDraft(name: "D", desc: ""))
            _ = try await services.store.edit(other, by: .program)
            try await services.expectCopy()
            #expect(services.transfers.count == before + 1)
            _ = try await services.client.request(AddChannel(channel: NamedDraft(name: "E", desc: "")))
            try await services.expectCopy()
            #expect(services.transfers.count == before + 1)
        }
    }

    @Test("Many edits through two gateways at the same moment move the cube nowhere, and the copy is the cube")
    func simultaneous() async throws {
        try await withServices(.sqlite, gapTimeout: .seconds(600)) { services in
            let caller = CallerContext(actor: "ann")
            let channel = try await services.cube.edit(AddChannel(channel: NamedDraft(name: "C", desc: "")), for: caller).value.id
            try await services.expectCopy()
            let before = services.transfers.count
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    let add = AddArea(channelID: channel, area: NamedDraft(name: "\(number)", desc: ""))
                    group.addTask { _ = try await services.client.request(add) }
                    group.addTask {
                        let id = try await services.cube.edit(add, for: caller).value.id
                        #expect(try await services.cube.current().channels[0].areas.contains { $0.id == id })
                    }
                }
                try await group.waitForAll()
            }
            try await services.expectCopy()
            #expect(services.transfers.count == before)
        }
    }

    @Test("A kept copy that differs from the cube at the same version is replaced, in the gateway's file as well")
    func wrongKeptCopy() async throws {
        let added = AddChannel(channel: NamedDraft(name: "C", desc: ""))
        try await withServices(.sqlite, gapTimeout: .seconds(600)) { services in
            let (edit, _) = try await services.store.edit(added, by: .program)
            var wrong = edit.value
            wrong.name = "wrong"
            try services.cube.restore(KeptCube(confirmed: .now, version: edit.version, channels: [wrong]))
            #expect(services.cube.kept?.channels == [wrong] && services.cube.copyRevision == 0)
        } _: { services in
            let snapshot = try await services.store.snapshot()
            try await eventually { services.cube.kept?.channels == snapshot.channels }
            #expect(services.cube.kept?.version == snapshot.version && services.transfers.count == 1)
            #expect(services.cube.copyRevision > 0)
        }
    }
}
