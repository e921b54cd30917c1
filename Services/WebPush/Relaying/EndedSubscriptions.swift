import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Removes subscriptions that their push services do not know any more, beside the pushes. If the process ends before, the next push to
/// them finds out again.
final class EndedSubscriptions: Service {
    private let subscriptions: Subscriptions
    private let waiting = Mutex<Set<ObjectID>>([])
    private let outage: OutageLog

    private static let period = Duration.seconds(1)

    init(_ subscriptions: Subscriptions, logger: Logger) {
        self.subscriptions = subscriptions
        outage = OutageLog("ended subscriptions cannot be removed", logger: logger)
    }

    func add(_ ids: [ObjectID]) { waiting.withLock { $0.formUnion(ids) } }

    /// Removes those that were added so far.
    func remove() async throws {
        for id in waiting.withLock(\.self) {
            try await subscriptions.end(id)
            waiting.withLock { _ = $0.remove(id) }
        }
    }

    func run() async throws {
        await RepeatingService(every: Self.period, retries: Backoff(first: Self.period, max: .seconds(30)), outage: outage) {
            [self] in try await remove()
        }.run()
    }
}
