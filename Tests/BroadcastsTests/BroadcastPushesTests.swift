import Bus
import FCM
import Base
import Schemas
import Store
import Synchronization
import TestSupport
import Testing

@testable import Broadcasts

/// How pushes reach the outbox, with a message log of the test on the bus.
@Suite("Broadcasts reach the outbox", .timeLimit(.minutes(10)))
struct BroadcastPushesTests {
    private static let ann = AuditAuthor(actor: "ann")

    /// A message log that takes pushes, or refuses them.
    private final class MessageLogDouble: Sendable {
        private struct State {
            var taken: [LogPush] = []
            var failure: CommandFailure?
            /// What FCM has answered, and whether the message log says so.
            var outcomes: [ObjectID: (RelayState, DeliveryError?)] = [:]
            var isSilent = false
            var isReleased = false
            /// Whether a relay has all pushes.
            var onTheirWay = false
            var recalled: [ObjectID] = []
            /// The pushes with a pop-up.
            var popups: [ObjectID] = []
        }

        private let state = Mutex(State())

        var taken: [LogPush] { state.withLock(\.taken) }
        var failure: CommandFailure? {
            get { state.withLock(\.failure) }
            set { state.withLock { $0.failure = newValue } }
        }

        /// FCM has answered for all pushes so far.
        func end(_ outcome: RelayState, _ error: DeliveryError? = nil) {
            state.withLock { state in for id in state.outcomes.keys { state.outcomes[id] = (outcome, error) } }
        }

        /// The operator releases what is held.
        func release() { state.withLock { $0.isReleased = true } }

        /// A relay has all pushes, or has given them back.
        func setOnTheirWay(_ onTheirWay: Bool) { state.withLock { $0.onTheirWay = onTheirWay } }

        var recalled: [ObjectID] { state.withLock(\.recalled) }
        var popups: [ObjectID] { state.withLock(\.popups) }

        func beSilent() { state.withLock { $0.isSilent = true } }

        private func push(_ command: LogPush, outcome: (RelayState, DeliveryError?) = (.pending, nil)) -> Push {
            var push = Push(
                sender: "broadcast", idempotencyKey: command.idempotencyKey, transport: .fcm, fairnessKey: "broadcast",
                message: command.message, urgency: .high, logged: .now, expires: command.expires,
                relay: PushRecord(logged: command.recipients, due: .now))
            push.relay.state = outcome.0
            if state.withLock(\.isReleased) { push.relay.trace = [Intervention(action: .release, at: .now, by: "cli:ann")] }
            push.relay.recipients[0].error = outcome.1
            state.withLock { $0.outcomes[push.id] = outcome }
            return push
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
                let made = push(command)
                if command.message["notification"] != nil { state.withLock { $0.popups.append(made.id) } }
                return LogPush.Reply(push: made)
            }
            router.on(RecallPush.self) { [self] command, context in
                #expect(context.actor == "broadcast")
                let isLate = state.withLock { state in
                    guard state.outcomes[command.pushID]?.0 == .pending, !state.onTheirWay else { return true }
                    state.outcomes[command.pushID] = (.recalled, nil)
                    state.recalled.append(command.pushID)
                    return false
                }
                if isLate { throw CommandFailure(.conflict, "it is on its way to FCM now") }
                return push(taken[0])
            }
            router.on(GetPush.self) { [self] command, _ in
                let (outcome, last, isSilent) = state.withLock { ($0.outcomes[command.pushID], $0.taken.last, $0.isSilent) }
                if isSilent { throw CommandFailure(.unavailable, "silent") }
                guard let outcome, let last else { throw CommandFailure(.notFound, "no push") }
                return push(last, outcome: outcome)
            }
            return router
        }
    }

    private struct Parts: Sendable {
        let log: BroadcastLog
        let messageLog: MessageLogDouble
        let pushes: BroadcastPushes
        let outcomes: PushOutcomes
        let folder: String

        /// Makes all broadcasts due, as they are after a restore or later.
        func set(_ field: String, to time: UnixMilliseconds) async throws {
            try await StoredDocuments.set(field, to: time.rawValue, inAllWith: "_id", of: BroadcastHold.collection, in: folder)
            pushes.wake()
        }

        func add(epoch: BroadcastEpoch? = nil, type: BroadcastType = .others) async throws -> Int64 {
            try await log.add(AddBroadcast(draft(epoch: epoch, type: type)), sender: "ann", by: ann).broadcast.id
        }

        func edit(_ id: Int64, type: BroadcastType = .others) async throws {
            _ = try await log.update(UpdateBroadcast(id, draft("New", type: type)), by: ann)
        }

        private func draft(
            _ title: String = "a", epoch: BroadcastEpoch? = nil, type: BroadcastType = .others
        ) -> BroadcastDraft {
            BroadcastDraft(
                type: type, epoch: epoch, expiry: 60,
                actionData: BroadcastActionData(translations: ["en": .init(title: title, msg: "b")]))
        }

        func broadcast(_ id: Int64) async throws -> Broadcast { try await log.stored(id).broadcast }

        /// The answer to `broadcast.get`.
        func answer(_ id: Int64) async throws -> Broadcast.Pushed? {
            await outcomes.add(to: try await log.stored(id)).pushed
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
                let pushes = BroadcastPushes(
                    store: store, messageLog: client, payloadLimit: .topic, logger: quietLogger)
                let log = BroadcastLog(store: store, language: "en", payloadLimit: .topic) { _ in pushes.wake() }
                let running = [Task { try await server.run() }, Task { try await pushes.run() }]
                defer { for task in running { task.cancel() } }
                try await body(
                    Parts(
                        log: log, messageLog: messageLog, pushes: pushes, outcomes: PushOutcomes(messageLog: client),
                        folder: folder))
            }
            try await store.close()
        }
    }

    @Test("A broadcast, its edit and its withdrawal are pushed, each once, and the log counts the pushes")
    func life() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add()
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            try await parts.edit(id)
            try await eventually("the edit is counted") { try await parts.broadcast(id).pushed?.count == 2 }
            _ = try await parts.log.withdraw(WithdrawBroadcast(id), by: Self.ann)
            try await eventually("the withdrawal is pushed") { parts.messageLog.taken.count == 3 }
            #expect(parts.data(0)?["version"] == "1" && parts.data(1)?["version"] == "2")
            #expect(parts.data(2)?["version"] == "3" && parts.data(2)?["withdrawn"] == "true")
        }
    }

    @Test("A downtime's data and its pop-up go out together, and count as one push")
    func popup() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add(type: .downtime)
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            let taken = parts.messageLog.taken
            #expect(taken.count == 2 && taken.count { $0.message["notification"] != nil } == 1)
            #expect(try await parts.log.stored(id).lastPushes?.count == 2)
        }
    }

    @Test("A pop-up that waits in the outbox is recalled when its broadcast is edited or withdrawn")
    func recalledPopup() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add(type: .downtime)
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            let first = parts.messageLog.popups
            #expect(first.count == 1)
            try await parts.edit(id, type: .downtime)
            try await eventually("the edit is counted") { try await parts.broadcast(id).pushed?.count == 2 }
            #expect(parts.messageLog.recalled == first)
            let second = Array(parts.messageLog.popups.dropFirst(1))
            #expect(second.count == 1)
            _ = try await parts.log.withdraw(WithdrawBroadcast(id), by: Self.ann)
            try await eventually("the withdrawal is pushed") { try await parts.log.stored(id).nextPush == nil }
            #expect(parts.messageLog.recalled == first + second)
            #expect(try await parts.log.stored(id).formerPopups == nil)
        }
    }

    @Test("A pop-up that is on its way to FCM at the withdrawal is recalled when it waits again, and one that FCM has is not")
    func recalledLater() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add(type: .downtime)
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            parts.messageLog.setOnTheirWay(true)
            _ = try await parts.log.withdraw(WithdrawBroadcast(id), by: Self.ann)
            try await eventually("the withdrawal is pushed") { try await parts.log.stored(id).nextPush == nil }
            #expect(parts.messageLog.recalled.isEmpty)
            #expect(try await parts.log.stored(id).formerPopups == parts.messageLog.popups)
            parts.messageLog.setOnTheirWay(false)
            try await eventually("it is recalled") { parts.messageLog.recalled == parts.messageLog.popups }
            try await eventually("that is noted") { try await parts.log.stored(id).formerPopups == nil }

            let other = try await parts.add(type: .downtime)
            try await eventually("it is counted") { try await parts.broadcast(other).pushed?.count == 1 }
            parts.messageLog.end(.relayed)
            _ = try await parts.log.withdraw(WithdrawBroadcast(other), by: Self.ann)
            try await eventually("the withdrawal is pushed") { try await parts.log.stored(other).nextPush == nil }
            #expect(try await parts.log.stored(other).formerPopups == nil)
            #expect(parts.messageLog.recalled.count == 1)
        }
    }

    @Test("After a restore its pushes are held, until one is released or it is edited")
    func restored() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add()
            func expectPush(_ number: Int, held: Bool?) async throws {
                try await eventually("push \(number)") { parts.messageLog.taken.count == number }
                #expect(parts.messageLog.taken.last?.held == held)
                try await eventually("it is noted") { try await parts.log.stored(id).broadcast.pushed?.count == number }
            }
            try await expectPush(1, held: nil)
            for number in 2...3 {
                try await parts.set(BroadcastHold.field, to: .now)
                try await parts.set(BroadcastHold.plannedField, to: .now)
                try await expectPush(number, held: true)
            }
            parts.messageLog.release()
            try await parts.set(BroadcastHold.plannedField, to: .now)
            try await expectPush(4, held: nil)
            #expect(try await parts.log.stored(id).restored == nil)

            try await parts.set(BroadcastHold.field, to: .now + 3_600_000)
            try await parts.edit(id)
            try await expectPush(5, held: nil)
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
            #expect(try await parts.broadcast(later).pushed == nil)
        }
    }

    @Test("While the message log takes nothing, broadcasts wait, the health says so, and then they go out")
    func outage() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.storageFull, "the archive is full")
            let id = try await parts.add()
            try await eventually("the health says so") { parts.pushes.health["outbox"]?.status == .storageFull }
            #expect(try await parts.broadcast(id).pushed == nil)
            parts.messageLog.failure = nil
            try await eventually("it goes out") { try await parts.broadcast(id).pushed?.count == 1 }
            try await eventually("so does the health") { parts.pushes.health["outbox"]?.status == .ok }
            #expect(parts.messageLog.taken.count == 1)
        }
    }

    @Test("While the message log does not know the command, since it is older, pushes wait, and none is lost")
    func olderMessageLog() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.invalid, "\(CommandFailure.unknownCommand) \"push.log\"")
            let id = try await parts.add()
            try await eventually("the health says so") { parts.pushes.health["outbox"]?.status == .invalid }
            #expect(try await parts.broadcast(id).pushed == nil)
            parts.messageLog.failure = nil
            try await eventually("it goes out") { try await parts.broadcast(id).pushed?.count == 1 }
        }
    }

    @Test("One that the outbox refuses for its content does not hold up others")
    func refused() async throws {
        try await Self.withParts { parts in
            parts.messageLog.failure = CommandFailure(.invalid, "message.data: too large", field: "message.data")
            let refused = try await parts.add()
            try await eventually("it was tried") { try await parts.log.stored(refused).nextPush == nil }
            let pushed = try #require(try await parts.answer(refused))
            #expect(pushed.count == 0 && pushed.state == .failed && pushed.failed == "message.data: too large")
            parts.messageLog.failure = nil
            let other = try await parts.add()
            try await eventually("the other one goes out") { try await parts.broadcast(other).pushed?.count == 1 }
        }
    }

    @Test("The answer about a broadcast says what became of its last push, and comes without the message log as well")
    func outcome() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add()
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            #expect(try await parts.answer(id)?.state == .pending)
            parts.messageLog.end(
                .failed, DeliveryError(class: .permanent, code: "PERMISSION_DENIED", message: "the project has no account"))
            let failed = try await parts.answer(id)
            #expect(failed?.state == .failed && failed?.failed == "PERMISSION_DENIED: the project has no account")
            parts.messageLog.end(.relayed)
            let relayed = try await parts.answer(id)
            #expect(relayed?.state == .relayed && relayed?.failed == nil && relayed?.count == 1)
            parts.messageLog.beSilent()
            let unknown = try await parts.answer(id)
            #expect(unknown?.count == 1 && unknown?.state == nil)
        }
    }

    @Test("A withdrawal is not counted as a push, and its failure is seen")
    func withdrawalOutcome() async throws {
        try await Self.withParts { parts in
            let id = try await parts.add()
            try await eventually("it is counted") { try await parts.broadcast(id).pushed?.count == 1 }
            let pushed = try await parts.broadcast(id).pushed
            parts.messageLog.failure = CommandFailure(.invalid, "topic: unknown")
            _ = try await parts.log.withdraw(WithdrawBroadcast(id), by: Self.ann)
            try await eventually("it was tried") { try await parts.log.stored(id).nextPush == nil }
            let answer = try await parts.answer(id)
            #expect(answer?.count == 1 && answer?.last == pushed?.last && answer?.failed == "topic: unknown")
        }
    }
}
