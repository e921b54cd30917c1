import Base
import CoreMetrics
import FoundationEssentials
import Instruments
import Logging
import Schemas
import Store
import Synchronization

/// Counts the calls of persons in each month (UTC), and warns at nine tenths of what the operator wants. Nothing is refused.
///
/// They are counted in memory, and stored every few seconds: a kill loses a few. What several instances store adds up.
final class CallCounts: Sendable {
    private struct State {
        /// Those that are not stored yet.
        var calls: [String: Int64] = [:]
        /// The month and its calls when it was last read or stored.
        var month = ""
        var stored: Int64 = 0
        /// Whether the log has the warning.
        var isWarned = false
    }

    private let changes: MessagingChanges
    private let logger: Logger
    private let state = Mutex(State())

    static let period = Duration.seconds(10)
    fileprivate static let keptFor = Milliseconds.seconds(400 * 86_400)

    init(changes: MessagingChanges, logger: Logger) {
        self.changes = changes
        self.logger = logger
    }

    /// Counts a call.
    ///
    /// - Parameter operation: One of the seed's names, or `others`.
    func count(_ operation: String) { state.withLock { $0.calls[operation, default: 0] += 1 } }

    /// Stores what was counted, and reads how many calls there are in all.
    func store() async throws {
        let counted = state.withLock { state in
            defer { state.calls = [:] }
            return state.calls
        }
        let month = Self.month(of: changes.now())
        do {
            let stored = try await add(counted, to: month)
            state.withLock { state in
                state.stored = stored
                // The warning is for one month.
                if state.month != month { state.isWarned = false }
                state.month = month
            }
        } catch {
            // They are stored the next time.
            state.withLock { $0.calls.merge(counted) { $0 + $1 } }
            throw error
        }
        warn()
    }

    /// - Returns: How many there are in all.
    private func add(_ calls: [String: Int64], to month: String) async throws -> Int64 {
        guard calls.isEmpty else {
            return try await changes.make(by: .program) { change in try change.count(calls, in: month) }
        }
        return try await changes.store.get(month, from: MessagingStore.calls)?.document.sum ?? 0
    }

    /// Stores what is left before the store is closed. A database that does not answer does not keep the service.
    func storeLast() async {
        let last = Task { [self] in
            do {
                try await store()
            } catch {
                logger.warning("the last calls were not counted", metadata: ["error": "\(error)"])
            }
        }
        _ = await last.finishes(by: .now + .seconds(2))
    }

    /// The calls of the present month by their names, with those that this instance has not stored yet.
    func calls() async throws -> (month: String, calls: [String: Int64]) {
        let month = Self.month(of: changes.now())
        let stored = try await changes.store.get(month, from: MessagingStore.calls)?.document.calls ?? [:]
        return (month, stored.merging(state.withLock { $0.calls }) { $0 + $1 })
    }

    /// Whether there are few enough, as a part of the service's health.
    var health: [String: PartHealth] {
        guard let warning else { return ["calls": .ok] }
        return ["calls": PartHealth(.overloaded, warning)]
    }

    /// Sets the gauges.
    func collectMetrics() {
        let (_, calls) = month
        Instrument.messagingCalls.gauge().set(calls)
        Instrument.messagingCallLimit.gauge().set(changes.rules().calls ?? 0)
    }

    private var month: (name: String, calls: Int64) {
        state.withLock { state in (state.month, state.calls.values.reduce(state.stored) { $0.adding($1) }) }
    }

    /// A sentence for the operator; `nil` if there are few enough.
    private var warning: String? {
        let (name, calls) = month
        guard let limit = changes.rules().calls,
            calls.multiplied(by: 100) >= Int64(limit).multiplied(by: Int64(MessagingLimits.alarm))
        else { return nil }
        return "there were \(calls) calls of the messaging service in \(name), and \(limit) are wanted at most; none is refused"
    }

    private func warn() {
        let text = self.warning
        let isNew = state.withLock { state in
            defer { state.isWarned = text != nil }
            return !state.isWarned
        }
        if isNew, let text { logger.warning("\(text)") }
    }

    /// Such as `2026-05`.
    private static func month(of time: UnixMilliseconds) -> String {
        String(Date(time).formatted(Date.ISO8601FormatStyle()).prefix(7))
    }
}

extension MessagingChange {
    /// Adds calls to those of a month.
    ///
    /// - Returns: How many there are in all.
    fileprivate func count(_ calls: [String: Int64], in month: String) throws -> Int64 {
        guard try transaction.get(month, from: MessagingStore.calls) != nil else {
            let new = CallsDocument(id: month, calls: calls, expires: now + CallCounts.keptFor)
            return try transaction.insert(new, into: MessagingStore.calls).document.sum
        }
        return try transaction.update(month, in: MessagingStore.calls) { month in
            month.calls.merge(calls) { $0.adding($1) }
        }.document.sum
    }
}

extension CallsDocument {
    fileprivate var sum: Int64 { calls.values.reduce(0) { $0.adding($1) } }
}
