import Base
import Bus
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

/// Hands the queued pushes to persons over to the message log's outbox.
///
/// A push leaves the queue only after the outbox has stored it. If this process is killed in between, it repeats the command, which has
/// the same idempotency key and so adds no second push.
final class PersonPushes: Service {
    private let store: Storage
    private let next: @Sendable () async throws -> [QueuedPush]
    private let messageLog: CommandClient
    private let logger: Logger
    private let outage: OutageLog
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The interval at which the queue is read anyway, for what another instance has left.
    private static let period = Duration.seconds(1)
    private static let maxPerLook = 50
    /// The sender of the pushes, for the outbox.
    private static let actor = CallerContext(actor: "people")
    /// The fields of a push that only a message log of this version or a later one knows.
    private static let newFields: Set<String> = ["accounts", "except_device", "kind"]

    init(store: Storage, messageLog: CommandClient, logger: Logger) {
        self.store = store
        self.messageLog = messageLog
        self.logger = logger
        next = store.repeatedPage(of: PeopleStore.queuedPushes, Query(), limit: Self.maxPerLook)
        outage = OutageLog("pushes to persons wait", logger: logger)
    }

    /// Wakes the loop, since a push was queued.
    func wake() { wakeUps.continuation.yield() }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    while (try? await Task.sleep(untilNext: Self.period)) != nil { wake() }
                }
                await sendWhenQueued()
                group.cancelAll()
            }
        }
    }

    private func sendWhenQueued() async {
        var backoff = Backoff(first: Self.period, max: .seconds(15))
        var earliest = ContinuousClock.now
        wake()
        for await _ in wakeUps.stream {
            guard ContinuousClock.now >= earliest else { continue }
            do {
                while try await sendNext() {}
                outage.worked()
                backoff.succeeded()
            } catch {
                if Task.isCancelled { return }
                outage.failed(error)
                earliest = .now + backoff.failed()
            }
        }
    }

    /// - Returns: Whether there may be more.
    private func sendNext() async throws -> Bool {
        let queued = try await next()
        for push in queued { try await send(push) }
        return queued.count == Self.maxPerLook
    }

    private func send(_ queued: QueuedPush) async throws {
        do {
            _ = try await messageLog.request(queued.push, context: Self.actor)
        } catch {
            // What the outbox refuses for its content it will always refuse. It must not block the others.
            guard Self.isRefusal(error) else { throw error }
            logger.error("the outbox refuses a push to a person", metadata: ["push": "\(queued.id)", "error": "\(error)"])
        }
        // It may have been taken back since.
        try await store.transaction { try $0.delete([queued.id], from: PeopleStore.queuedPushes) }
    }

    /// Whether a push would never be taken. A message log of an older version does not know pushes to persons: they wait for a newer one.
    private static func isRefusal(_ error: any Error) -> Bool {
        guard let failure = error as? CommandFailure else { return error is SchemaViolation }
        switch failure.status {
        case .conflict: return true
        case .invalid: return !failure.isUnknownCommand && !(failure.field.map(newFields.contains) ?? false)
        default: return false
        }
    }
}
