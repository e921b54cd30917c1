import Base
import Bus
import CoreMetrics
import Instruments
import Schemas
import Store
import Synchronization

extension CommandRouter {
    /// The command for the operator about all messages, reports and pictures.
    mutating func serveCounts(_ messaging: Messaging) {
        on(CountMessaging.self) { _, _ in try await messaging.counts.count() }
    }
}

/// How much there is, which is counted when the operator asks, and now and then for the metrics.
final class MessagingCounts: Sendable {
    private let changes: MessagingChanges
    private let calls: CallCounts
    private let removals: Removals
    /// What was counted last; `nil` until then.
    private let counted = Mutex<Counted?>(nil)

    private struct Counted: Sendable {
        let counts: CountMessaging.Reply
        /// The pushes that wait.
        let pushes: Int
    }

    static let period = Duration.seconds(60)
    /// More messages are not counted.
    private static let maxCounted = 1_000_000
    private static let pageSize = 500

    init(changes: MessagingChanges, calls: CallCounts, removals: Removals) {
        self.changes = changes
        self.calls = calls
        self.removals = removals
    }

    /// Counts what there is now.
    func count() async throws -> CountMessaging.Reply {
        let month = try await calls.calls()
        let (messages, pictures) = try await changes.store.snapshot { transaction in
            (
                try transaction.count(MessagingStore.messages, upTo: Self.maxCounted),
                try transaction.get(PictureTotalDocument.id, from: MessagingStore.totals)?.bytes ?? 0
            )
        }
        let rules = changes.rules()
        return CountMessaging.Reply(
            messages: messages, reports: try await openReports(), pictures: pictures, pictureLimit: rules.pictures,
            month: month.month, calls: month.calls, callLimit: rules.calls.map { Int64($0) }, due: try await due(),
            now: changes.now())
    }

    private func openReports() async throws -> Int {
        let open = Query(where: MessagingStore.reportOpen == true, order: .ascending(MessagingStore.reportAt))
        var (count, cursor): (Int, Cursor?) = (0, nil)
        repeat {
            let page = try await changes.store.page(of: MessagingStore.reports, open, after: cursor, limit: Self.pageSize)
            count += page.documents.count
            cursor = page.next
        } while cursor != nil
        return count
    }

    /// When the first of what was to be removed should have been; `nil` for nothing.
    private func due() async throws -> UnixMilliseconds? {
        let overdue = max(removals.messages.overdue, removals.traces.overdue)
        let first: UnixMilliseconds? = overdue > .zero ? changes.now() - overdue : nil
        let oldest = try await removals.expiry.due()
        return [first, oldest].compactMap(\.self).min()
    }

    /// Counts again for the metrics.
    func recount() async throws {
        let counts = try await count()
        let pushes = try await changes.store.snapshot { try $0.count(MessagingStore.queuedPushes, upTo: Self.maxCounted) }
        counted.withLock { $0 = Counted(counts: counts, pushes: pushes) }
    }

    /// Sets the gauges.
    func collectMetrics() {
        calls.collectMetrics()
        let overdue = max(removals.messages.overdue, removals.traces.overdue)
        let last = counted.withLock(\.self)
        Instrument.messagingOverdue.gauge().set(max(overdue, last?.counts.overdue ?? .zero).rawValue / 1_000)
        Instrument.messagingMessages.gauge().set(last?.counts.messages ?? 0)
        Instrument.messagingReports.gauge().set(last?.counts.reports ?? 0)
        Instrument.messagingPushesWaiting.gauge().set(last?.pushes ?? 0)
    }
}
