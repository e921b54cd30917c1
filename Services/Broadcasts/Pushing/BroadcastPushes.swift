import Bus
import Base
import FCM
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Synchronization

/// Pushes each broadcast through the message log's outbox: when it begins, at its repetitions, and when it is withdrawn.
///
/// The store knows which pushes are due. A push is marked as done only after the outbox has stored it. If this process is killed in
/// between, it repeats the command, which has the same idempotency key and so adds no second push.
final class BroadcastPushes: Service {
    private let store: Storage
    /// The broadcasts that are due next, or now.
    private let next: @Sendable () async throws -> [StoredBroadcast]
    private let messageLog: CommandClient
    private let payloadLimit: PayloadLimit
    /// Whether there is something to push by. Without FCM, apps find broadcasts when they ask the hub.
    private let usesFCM: Bool
    private let recalls: PopupRecalls
    private let logger: Logger
    private let outage: OutageLog
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Why the outbox took no push at the last attempt; `nil` if it did.
    private let failure = Mutex<CommandFailure?>(nil)

    /// The interval at which the store is polled for due pushes, and for changes by other instances.
    private static let period = Duration.seconds(1)
    private static let maxPerLook = 50
    /// The sender of the pushes, for the outbox.
    private static let actor = CallerContext(actor: "broadcast")

    /// - Parameters:
    ///   - payloadLimit: The maximum size of a push.
    ///   - usesFCM: Whether FCM is switched on.
    init(store: Storage, messageLog: CommandClient, payloadLimit: PayloadLimit, usesFCM: Bool = true, logger: Logger) {
        self.usesFCM = usesFCM
        self.store = store
        self.payloadLimit = payloadLimit
        recalls = PopupRecalls(store: store, messageLog: messageLog, context: Self.actor)
        @Sendable func query(until time: UnixMilliseconds) -> Query<StoredBroadcast> {
            Query(where: BroadcastStore.nextPush <= time, order: .ascending(BroadcastStore.nextPush))
        }
        if store.tellsChanges {
            next = store.repeatedPage(of: BroadcastStore.all, query(until: .max), limit: Self.maxPerLook)
        } else {
            next = {
                try await store.page(of: BroadcastStore.all, query(until: .now), limit: Self.maxPerLook).documents.map(\.document)
            }
        }
        self.messageLog = messageLog
        self.logger = logger
        outage = OutageLog("broadcasts wait", logger: logger)
    }

    /// Wakes the loop, since something may be due.
    func wake() { wakeUps.continuation.yield() }

    /// Whether the outbox takes pushes, as a part of the service's health.
    var health: [String: PartHealth] {
        // The failure's own message is not used: it names sockets and folders.
        let failure = failure.withLock(\.self)
        return ["outbox": failure.map { PartHealth($0.status, "the message log takes no pushes; broadcasts wait") } ?? .ok]
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    while (try? await Task.sleep(untilNext: Self.period)) != nil { wake() }
                }
                await pushWhenDue()
                group.cancelAll()
            }
        }
    }

    private func pushWhenDue() async {
        var backoff = Backoff(first: Self.period, max: .seconds(15))
        var earliest = ContinuousClock.now
        wake()
        for await _ in wakeUps.stream {
            guard ContinuousClock.now >= earliest else { continue }
            do {
                while try await pushDue() {}
                try await recalls.retry()
                failure.withLock { $0 = nil }
                outage.worked()
                backoff.succeeded()
            } catch {
                if Task.isCancelled { return }
                failure.withLock { $0 = error as? CommandFailure ?? CommandFailure(.internal, "\(error)") }
                outage.failed(error)
                earliest = .now + backoff.failed()
            }
        }
    }

    /// - Returns: Whether there may be more.
    private func pushDue() async throws -> Bool {
        let now = UnixMilliseconds.now
        let due = try await next().filter { $0.nextPush.map { $0 <= now } ?? false }
        for stored in due { try await push(stored) }
        return due.count == Self.maxPerLook
    }

    private func push(_ stored: StoredBroadcast) async throws {
        guard let push = BroadcastPush(of: stored, payloadLimit: payloadLimit, now: .now) else {
            return try await finish(stored) { $0.noteEnd() }
        }
        // First, so that no earlier text overtakes the new one.
        let recalled = try await recalls.recall(stored.formerPopups ?? [])
        let isHeld = try await isHeld(stored)
        var taken: [ObjectID] = []
        var popups: [ObjectID] = []
        var refusal: String?
        for var command in try usesFCM ? push.commands : [] {
            if isHeld { command.held = true }
            do throws(CommandFailure) {
                let id = try await messageLog.request(command, context: Self.actor).push.id
                taken.append(id)
                if command.message["notification"] != nil { popups.append(id) }
            } catch {
                // What the outbox refuses for its content it will always refuse. It must not block the others.
                // A message log of an older version may not know the command: the push waits for a newer one.
                guard error.status == .invalid || error.status == .conflict, !error.isUnknownCommand else { throw error }
                logger.error("the outbox refuses a broadcast", metadata: ["broadcast": "\(stored.id)", "error": "\(error)"])
                refusal = error.message
            }
        }
        let now = UnixMilliseconds.now
        try await finish(stored, popups: popups) { [taken, popups, refusal] current in
            if !isHeld { current.noteRelease() }
            current.notePush(
                next: push.next, pushes: taken, popups: popups, isWithdrawal: push.isWithdrawal, refusal: refusal, at: now)
            current.noteRecall(of: recalled)
        }
        guard !taken.isEmpty else { return }
        logger.debug("pushed", metadata: ["broadcast": "\(stored.id)", "version": "\(stored.broadcast.version)"])
    }

    /// Whether it was restored from a backup, and the operator has released none of its pushes since.
    private func isHeld(_ stored: StoredBroadcast) async throws -> Bool {
        guard let restored = stored.restored else { return false }
        for id in stored.lastPushes ?? [] {
            do throws(CommandFailure) {
                let push = try await messageLog.request(GetPush(pushID: id), context: Self.actor)
                if push.relay.trace?.contains(where: { $0.action == .release && $0.at > restored }) == true { return false }
            } catch {
                guard error.status == .notFound else { throw error }
            }
        }
        return true
    }

    /// - Parameter popups: The pop-ups that the outbox has taken.
    private func finish(
        _ stored: StoredBroadcast, popups: [ObjectID] = [], _ note: @escaping @Sendable (inout StoredBroadcast) -> Void
    ) async throws {
        let finished = try await store.update(stored.id, in: BroadcastStore.all) { current in
            // The later version has its own push.
            guard current.broadcast.version == stored.broadcast.version else { return current.dropPopups(popups) }
            guard current.nextPush == stored.nextPush else { return }
            note(&current)
        }
        if finished.document.formerPopups != nil { recalls.add(stored.id) }
    }
}

/// Reads the outcome of a broadcast's last push from the message log.
struct PushOutcomes: Sendable {
    let messageLog: CommandClient

    /// The maximum time that the answer about a broadcast waits for the message log.
    private static let timeout = Duration.seconds(1)
    /// A push to several topics has the worst state of them.
    private static let worstFirst: [RelayState] = [.failed, .expired, .recalled, .retrying, .held, .pending, .relayed]

    /// The broadcast with the outcome, for an answer.
    func add(to stored: StoredBroadcast) async -> Broadcast {
        var broadcast = stored.broadcast
        guard broadcast.pushed != nil else { return broadcast }
        guard broadcast.pushed?.failed == nil else {
            broadcast.pushed?.state = .failed
            return broadcast
        }
        let pushes = await pushes(stored.lastPushes ?? [])
        broadcast.pushed?.state = Self.worstFirst.first { state in pushes.contains { $0.relay.state == state } }
        let error = pushes.flatMap(\.relay.recipients).first { $0.state != .accepted && $0.error != nil }?.error
        broadcast.pushed?.failed = error.map { "\($0.code): \($0.message)" }
        return broadcast
    }

    /// The pushes that the message log still has; empty if it does not answer.
    private func pushes(_ ids: [ObjectID]) async -> [Push] {
        var pushes: [Push] = []
        for id in ids {
            do throws(CommandFailure) {
                pushes.append(try await messageLog.request(GetPush(pushID: id), timeout: Self.timeout))
            } catch {
                guard error.status == .notFound else { return [] }
            }
        }
        return pushes
    }
}
