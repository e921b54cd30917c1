import Base
package import Bus
package import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
package import Store

/// Hands the queued pushes to persons over to the message log's outbox.
///
/// A push leaves the queue only after the outbox has stored it. If this process is killed in between, it repeats the command, which has
/// the same idempotency key and so adds no second push.
package final class PersonPushes: Service {
    /// What is done with pushes that `msi restore` put back: they may have gone out after the backup was made.
    package enum Restored: Sendable {
        /// The outbox holds them, and the operator decides.
        case hold
        /// They are removed: what they say is not so any more.
        case drop
    }

    private let queue: Collection<QueuedPush>
    private let store: Storage
    private let restored: Restored
    private let next: @Sendable () async throws -> [QueuedPush]
    private let messageLog: CommandClient
    /// The sender of the pushes, for the outbox.
    private let sender: CallerContext
    private let logger: Logger
    private let outage: OutageLog
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The interval at which the queue is read anyway, for what another instance has left.
    private static let period = Duration.seconds(1)
    private static let maxPerLook = 50
    /// The fields of a push that only a message log of this version or a later one knows.
    private static let newFields: Set<String> = ["accounts", "except_device", "kind"]

    /// - Parameters:
    ///   - queue: A collection of the store.
    ///   - sender: The name of the service.
    package init(
        of queue: Collection<QueuedPush>, in store: Storage, sender: String, restored: Restored, messageLog: CommandClient,
        logger: Logger
    ) {
        self.queue = queue
        self.store = store
        self.restored = restored
        self.messageLog = messageLog
        self.sender = CallerContext(actor: sender)
        self.logger = logger
        next = store.repeatedPage(of: queue, Query(), limit: Self.maxPerLook)
        outage = OutageLog("pushes to persons wait", logger: logger)
    }

    /// Wakes the loop, since a push was queued.
    package func wake() { wakeUps.continuation.yield() }

    package func run() async {
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
        for push in queued { try await send(push.id) }
        return queued.count == Self.maxPerLook
    }

    private func send(_ id: String) async throws {
        // It may have been taken back since the queue was read, or have lost a person who was erased.
        guard let queued = try await store.get(id, from: queue)?.document else { return }
        if queued.restored == nil || restored == .hold { try await log(queued) }
        try await store.transaction { [queue] in try $0.delete([id], from: queue) }
    }

    private func log(_ queued: QueuedPush) async throws {
        do {
            var push = try queued.push
            if queued.restored != nil { push.held = true }
            _ = try await messageLog.request(push, context: sender)
        } catch {
            // What the outbox refuses for its content it will always refuse. It must not block the others.
            guard Self.isRefusal(error) else { throw error }
            logger.error("the outbox refuses a push to persons", metadata: ["push": "\(queued.id)", "error": "\(error)"])
        }
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
