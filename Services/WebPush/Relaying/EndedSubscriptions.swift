import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Removes subscriptions that their push services do not know any more, beside the pushes. Before, the people service learns of them: they may
/// be those of students' devices. While it does not answer, they stay. If the process ends before, the next push to them finds out again.
final class EndedSubscriptions: Service {
    private let subscriptions: Subscriptions
    /// Tells the people service.
    private let report: @Sendable (EndDevicePushes) async throws(CommandFailure) -> Void
    private let waiting = Mutex<Set<ObjectID>>([])
    private let outage: OutageLog

    private static let period = Duration.seconds(1)

    init(
        _ subscriptions: Subscriptions, report: @escaping @Sendable (EndDevicePushes) async throws(CommandFailure) -> Void,
        logger: Logger
    ) {
        self.subscriptions = subscriptions
        self.report = report
        outage = OutageLog("ended subscriptions cannot be removed", logger: logger)
    }

    func add(_ ids: [ObjectID]) { waiting.withLock { $0.formUnion(ids) } }

    /// Removes those that were added so far.
    func remove() async throws {
        let ended = Array(waiting.withLock(\.self))
        for begin in stride(from: 0, to: ended.count, by: PushRecipient.maxTokens) {
            let part = Array(ended[begin..<min(begin + PushRecipient.maxTokens, ended.count)])
            do throws(CommandFailure) {
                try await report(EndDevicePushes(subscriptions: part))
            } catch {
                // An older people service has no devices.
                guard error.isUnknownCommand else { throw error }
            }
            for id in part {
                try await subscriptions.end(id)
                waiting.withLock { _ = $0.remove(id) }
            }
        }
    }

    func run() async throws {
        await RepeatingService(every: Self.period, retries: Backoff(first: Self.period, max: .seconds(30)), outage: outage) {
            [self] in try await remove()
        }.run()
    }
}
