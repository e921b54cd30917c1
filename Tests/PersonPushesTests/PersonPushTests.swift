import Base
import Bus
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

/// How pushes to persons reach the outbox, with a message log of the test on the bus.
@Suite("Pushes to persons reach the outbox", .timeLimit(.minutes(10)))
struct PersonPushTests {
    private static let queue = Collection<QueuedPush>("queued_push", reserve: .everything)
    private static let declaration = StoreDeclaration("pushes", queue)
    private static let ann = AccountName.named("Ann")

    private static func push(_ key: String, to accounts: [AccountName] = [PersonPushTests.ann]) throws -> LogPush {
        try LogPush(
            idempotencyKey: key, accounts: accounts, kind: .friendRequest, except: ObjectID(), fairnessKey: "friends",
            message: PersonPush(id: "1", link: "#people/requests", texts: ["en": "a"]), expires: .now + .seconds(3_600))
    }

    private struct Parts: Sendable {
        let store: Storage
        let messageLog: OutboxDouble
        let pushes: PersonPushes

        func queue(_ key: String, restored: Bool = false) async throws {
            var queued = try QueuedPush(PersonPushTests.push(key), for: PersonPushTests.ann, at: .now)
            if restored { queued.restored = .now }
            try await store.insert(queued, into: PersonPushTests.queue)
            pushes.wake()
        }

        func waiting() async throws -> [String] {
            try await store.page(of: PersonPushTests.queue, limit: 100).documents.map(\.id)
        }
    }

    private static func withParts(
        _ kind: StoreKind = .sqlite, restored: PersonPushes.Restored = .hold, _ body: @Sendable (Parts) async throws -> Void
    ) async throws {
        let url = try await kind.newDatabaseURL()
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: try url.map { try MongoURL($0) }, folder: folder)
            let store = try await Storage.open(declaration, at: place, logger: quietLogger)
            try await withBus { bus in
                let messageLog = OutboxDouble()
                let endpoint = "ipc://\(folder)/message-log.sock"
                let server = try CommandServer(bus: bus, endpoint: endpoint, router: messageLog.router(), logger: quietLogger)
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let pushes = PersonPushes(
                    of: queue, in: store, sender: "pushes", restored: restored, messageLog: client, logger: quietLogger)
                let serving = Task { try await server.run() }
                let sending = Task { await pushes.run() }
                defer {
                    serving.cancel()
                    sending.cancel()
                }
                try await body(Parts(store: store, messageLog: messageLog, pushes: pushes))
            }
            try await store.close()
        }
    }

    @Test("Each queued push is sent once, as it was queued, and then leaves the queue", arguments: StoreKind.allCases)
    func once(kind: StoreKind) async throws {
        try await Self.withParts(kind) { parts in
            let keys = (10..<80).map { "key-\($0)" }
            for key in keys { try await parts.queue(key) }
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.map(\.idempotencyKey).sorted() == keys)
            #expect(parts.messageLog.senders == ["pushes"] && !parts.messageLog.hasContradiction)
            let push = try #require(parts.messageLog.taken.first)
            #expect(push.accounts == [Self.ann] && push.kind == .friendRequest && push.exceptDevice != nil && push.held == nil)
            #expect(try PersonPush(push.message).link == "#people/requests")
        }
    }

    @Test("While the message log takes nothing, pushes wait, and one whose answer was lost is repeated unchanged")
    func outage() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.unavailable, "lost, outcome unknown")
            parts.messageLog.takesBeforeFailure = true
            try await parts.queue("one")
            try await eventually("it was taken") { parts.messageLog.taken.count == 1 }
            #expect(try await parts.waiting() == ["one"])
            parts.messageLog.failure = nil
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.count == 1 && parts.messageLog.requests >= 2)
            #expect(!parts.messageLog.hasContradiction)
        }
    }

    @Test(
        "A message log of an older version does not know pushes to persons, and they wait for a newer one",
        arguments: [
            CommandFailure(.invalid, "\(CommandFailure.unknownCommand) \"push.log\""),
            CommandFailure(.invalid, "accounts: unknown", field: "accounts"),
            CommandFailure(.invalid, "except_device: unknown", field: "except_device"),
            CommandFailure(.invalid, "kind: unknown", field: "kind"),
        ])
    func olderMessageLog(failure: CommandFailure) async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = failure
            try await parts.queue("one")
            try await eventually("it was tried") { parts.messageLog.requests > 0 }
            #expect(try await parts.waiting() == ["one"])
            parts.messageLog.failure = nil
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.count == 1)
        }
    }

    @Test(
        "A push that the outbox refuses for its content does not hold up others",
        arguments: [
            CommandFailure(.invalid, "message: too large", field: "message"),
            CommandFailure(.conflict, "another one has the key"),
        ])
    func refused(failure: CommandFailure) async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = failure
            try await parts.queue("refused")
            try await eventually("it is given up") { try await parts.waiting().isEmpty }
            parts.messageLog.failure = nil
            try await parts.queue("other")
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.map(\.idempotencyKey) == ["other"])
        }
    }

    @Test("A push from a backup is held by the outbox, or is dropped, as the service chooses")
    func restored() async throws {
        try await Self.withParts { parts in
            try await parts.queue("restored", restored: true)
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.first?.held == true)
        }
        try await Self.withParts(restored: .drop) { parts in
            try await parts.queue("restored", restored: true)
            try await parts.queue("today's")
            try await eventually("the queue is empty") { try await parts.waiting().isEmpty }
            #expect(parts.messageLog.taken.map(\.idempotencyKey) == ["today's"] && parts.messageLog.taken[0].held == nil)
        }
    }

    @Test("A push loses a person, and is nothing without the last one")
    func without() throws {
        let (ben, cleo) = (AccountName.named("ben"), AccountName.named("cleo"))
        let push = try Self.push("shared", to: [Self.ann, ben])
        let queued = try QueuedPush(push, at: .now)
        #expect(queued.account == nil && queued.isFor(.named("ANN")) && queued.isFor(ben) && !queued.isFor(cleo))
        let shorter = try #require(queued.without(.named("ann")))
        let left = try shorter.push
        #expect(shorter.id == queued.id && shorter.at == queued.at && left.accounts == [ben])
        #expect(left.kind == push.kind && left.exceptDevice == push.exceptDevice && left.expires == push.expires)
        #expect(try PersonPush(left.message) == PersonPush(push.message))
        #expect(shorter.without(ben) == nil)
    }

    @Test("A push that the outbox would refuse is not queued")
    func unqueued() throws {
        let wrong = try LogPush(
            idempotencyKey: "", accounts: [Self.ann], kind: .friendRequest, fairnessKey: "friends",
            message: PersonPush(id: "1", link: "#people", texts: ["en": "a"]), expires: .now + .seconds(60))
        #expect(throws: SchemaViolation.self) { try QueuedPush(wrong, at: .now) }
    }
}

extension AccountName {
    fileprivate static func named(_ name: String) -> AccountName {
        guard let account = AccountName(name) else { preconditionFailure("\(name) is no account's name") }
        return account
    }
}
