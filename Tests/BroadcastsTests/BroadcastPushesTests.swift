import CommandBus
import FCM
import JSON
import Schemas
import Storage
import Synchronization
import TestSupport
import Testing
import Time

@testable import Broadcasts

/// How pushes reach the outbox, with a message log of the test on the bus.
@Suite("Broadcasts reach the outbox", .timeLimit(.minutes(2)))
struct BroadcastPushesTests {
    private static let ann = AuditAuthor(actor: "ann")

    /// A message log that takes pushes, or refuses them.
    private final class MessageLogDouble: Sendable {
        private let state = Mutex<(taken: [LogPush], failure: CommandFailure?)>(([], nil))

        var taken: [LogPush] { state.withLock(\.taken) }
        var failure: CommandFailure? {
            get { state.withLock(\.failure) }
            set { state.withLock { $0.failure = newValue } }
        }

        func router() -> CommandRouter {
            var router = CommandRouter()
            router.on(LogPush.self) { [self] command, context in
                #expect(context.actor == "broadcast")
                if let failure { throw failure }
                let isNew = state.withLock { state in
                    let isNew = !state.taken.contains { $0.idempotencyKey == command.idempotencyKey }
                    if isNew { state.taken.append(command) }
                    return isNew
                }
                #expect(isNew || taken.contains(command), "another push with the same key")
                return LogPush.Reply(
                    push: Push(
                        sender: "broadcast", idempotencyKey: command.idempotencyKey, transport: .fcm, fairnessKey: "broadcast",
                        message: command.message, urgency: .high, logged: .now, expires: command.expires,
                        relay: PushRecord(logged: command.recipients, due: .now)))
            }
            return router
        }
    }

    private struct Parts: Sendable {
        let log: BroadcastLog
        let messageLog: MessageLogDouble
        let pushes: BroadcastPushes

        func add(expiry: Int = 60, epoch: BroadcastEpoch? = nil) async throws -> Int64 {
            let draft = BroadcastDraft(
                type: .downtime, epoch: epoch, expiry: expiry,
                actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")]))
            return try await log.add(AddBroadcast(draft), sender: "ann", by: ann).broadcast.id
        }

        func data(_ index: Int) -> JSONValue? { messageLog.taken[index].message["data"] }
    }

    private static func withParts(_ body: @Sendable (Parts) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: nil, folder: folder)
            let store = try await Storage.open(BroadcastStore.declaration, at: place, logger: quietLogger)
            try await withBus { bus in
                let messageLog = MessageLogDouble()
                let endpoint = "ipc://\(folder)/message-log.sock"
                let server = try CommandServer(bus: bus, endpoint: endpoint, router: messageLog.router(), logger: quietLogger)
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let pushes = BroadcastPushes(store: store, messageLog: client, logger: quietLogger)
                let log = BroadcastLog(store: store, language: "en", payloadLimit: .topic) { _ in pushes.wake() }
                let running = [Task { try await server.run() }, Task { try await pushes.run() }]
                defer { for task in running { task.cancel() } }
                try await body(Parts(log: log, messageLog: messageLog, pushes: pushes))
            }
            try await store.close()
        }
    }

    @Test("A broadcast, its edit and its withdrawal are pushed, each once, and the log counts the pushes")
    func life() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add()
            try await eventually("it is counted") { try await parts.log.broadcast(id).pushed?.count == 1 }
            let draft = BroadcastDraft(
                type: .downtime, expiry: 60, actionData: BroadcastActionData(translations: ["en": .init(title: "New", msg: "b")]))
            _ = try await parts.log.update(UpdateBroadcast(id, draft), by: Self.ann)
            try await eventually("the edit is counted") { try await parts.log.broadcast(id).pushed?.count == 2 }
            _ = try await parts.log.withdraw(WithdrawBroadcast(id), by: Self.ann)
            try await eventually("the withdrawal is pushed") { parts.messageLog.taken.count == 3 }
            #expect(parts.data(0)?["version"] == "1" && parts.data(1)?["version"] == "2")
            #expect(parts.data(2)?["version"] == "3" && parts.data(2)?["withdrawn"] == "true")
        }
    }

    @Test("One that has not begun waits, and withdrawn before that it is never pushed")
    func scheduled() async throws {
        try await Self.withParts { parts in
            let later = try await parts.add(epoch: BroadcastEpoch(.now + .seconds(3_600)))
            let soon = try await parts.add(epoch: BroadcastEpoch(.now + .seconds(2)))
            _ = try await parts.log.withdraw(WithdrawBroadcast(later), by: Self.ann)
            try await eventually("the other one has begun") { parts.messageLog.taken.count == 1 }
            #expect(parts.data(0)?["id"]?.string == "\(soon)")
            #expect(try await parts.log.broadcast(later).pushed == nil)
        }
    }

    @Test("While the message log takes nothing, broadcasts wait, the health says so, and then they go out")
    func outage() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.storageFull, "the archive is full")
            let id = try await parts.add()
            try await eventually("the health says so") { parts.pushes.health["outbox"]?.status == .storageFull }
            #expect(try await parts.log.broadcast(id).pushed == nil)
            parts.messageLog.failure = nil
            try await eventually("it goes out") { try await parts.log.broadcast(id).pushed?.count == 1 }
            #expect(parts.messageLog.taken.count == 1 && parts.pushes.health["outbox"]?.status == .ok)
        }
    }

    @Test("One that the outbox refuses for its content does not hold up others")
    func refused() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.invalid, "message.data: too large", field: "message.data")
            let refused = try await parts.add()
            try await eventually("it was tried") {
                try await parts.log.store.get(refused, from: BroadcastStore.all)?.document.nextPush == nil
            }
            parts.messageLog.failure = nil
            let other = try await parts.add()
            try await eventually("the other one goes out") { try await parts.log.broadcast(other).pushed?.count == 1 }
        }
    }
}
