import Base
import CoreMetrics
import Instruments
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Synchronization

/// Ends sessions whose time is over, and tells attendants what is due.
///
/// It decides nothing: a session that is over has ended, and every answer says so. This only writes it down with the exact
/// moment, and tells. Each instance may do all of it, since a session is read again in the transaction that changes it.
final class SessionClock: Service {
    private let changes: StudyChanges
    private let next: @Sendable () async throws -> [SessionDocument]
    private let outage: OutageLog
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// When the next work was or is due, by the last look that could read it; `nil` for none.
    private let earliest = Mutex<UnixMilliseconds?>(nil)

    private static let period = Duration.seconds(1)
    private static let maxPerLook = 50

    init(changes: StudyChanges, logger: Logger) {
        self.changes = changes
        // Without a condition on the time, so that nothing is read while nothing changes.
        next = changes.store.repeatedPage(
            of: StudyStore.sessions, Query(where: StudyStore.sessionDue >= 0, order: .ascending(StudyStore.sessionDue)),
            limit: Self.maxPerLook)
        outage = OutageLog("study sessions cannot be ended", logger: logger)
    }

    /// Looks at once.
    func wake() { wakeUps.continuation.yield() }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    while (try? await Task.sleep(untilNext: Self.period)) != nil { wake() }
                }
                await lookWhenWoken()
                group.cancelAll()
            }
        }
    }

    private func lookWhenWoken() async {
        wake()
        for await _ in wakeUps.stream {
            do {
                try await look()
                outage.worked()
            } catch {
                if Task.isCancelled { return }
                outage.failed(error)
            }
        }
    }

    /// Does what is due, the earliest first.
    ///
    /// - Throws: The last failure, after the others were done.
    func look() async throws {
        while true {
            let waiting = try await next()
            earliest.withLock { $0 = waiting.first?.due }
            let now = changes.now()
            let due = waiting.filter { $0.due.map { $0 <= now } ?? false }
            var failure: (any Error)?
            for session in due {
                do {
                    try await look(at: session)
                } catch {
                    if Task.isCancelled { throw error }
                    // Others may do better: it may be the document.
                    failure = error
                }
            }
            if let failure { throw failure }
            let later = waiting.dropFirst(due.count).first?.due
            earliest.withLock { $0 = later }
            guard due.count == Self.maxPerLook else { return }
        }
    }

    private func look(at session: SessionDocument) async throws {
        do {
            try await changes.make(by: .program) { change in
                _ = try change.apply(.clock, to: session.id, of: session.classID)
            }
        } catch let failure as CommandFailure where failure.status == .notFound {
            // It was removed since.
        }
    }

    /// Sets the gauge.
    func collectMetrics() {
        let late = earliest.withLock(\.self).map { max(0, (changes.now() - $0).rawValue) } ?? 0
        Instrument.studyOverdue.gauge().set(late / 1_000)
    }
}
