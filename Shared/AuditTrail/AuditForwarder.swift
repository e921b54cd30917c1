package import Bus
import FoundationEssentials
import Base
package import Logging
package import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Forwards a service's entries to the audit log, the oldest first, until the people service has acknowledged them.
///
/// The service stores an entry together with its change. So an entry is neither lost nor recorded for a change that was not made,
/// even if the people service is away for hours or this process is killed. An entry may be sent twice; its id makes that harmless.
///
/// An entry that the audit log refuses, or that is damaged, does not hold up the others: the log gets a substitute with the same id,
/// the entry itself is set aside, and the log and the health of the service say so.
package final class AuditForwarder: Service {
    private let source: any AuditSource
    private let part: String
    private let people: CommandClient
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var backlog = AuditBacklog()
        /// When the backlog was last counted.
        var measured: ContinuousClock.Instant?
    }

    /// The interval at which the store is polled for new entries.
    private static let period = Duration.seconds(1)
    /// The maximum size of a command's entries, in bytes of JSON. Only a command with a single entry may have more; a request may
    /// have 1 MiB.
    private static let maxBytes = 700_000
    /// Entries that are older are forwarded without pauses.
    private static let maxRelaxedAge = Milliseconds.seconds(15)
    /// The interval of counts of a backlog.
    private static let measurePeriod = Duration.seconds(10)

    /// - Parameters:
    ///   - source: The store with the entries.
    ///   - part: The name of the part in the service's health.
    ///   - people: The people service.
    package init(of source: any AuditSource, as part: String = "audit", to people: CommandClient, logger: Logger) {
        self.source = source
        self.part = part
        self.people = people
        self.logger = logger
    }

    /// Whether the entries reach the audit log, as a part of the service's health.
    package var health: [String: PartHealth] {
        [part: state.withLock(\.backlog).health(at: .now)]
    }

    package func run() async throws {
        // The service logs elsewhere that its own database is away.
        let outage = OutageLog("entries for the audit log cannot be forwarded yet", logger: logger) { $0 is CommandFailure }
        await RepeatingService(
            every: Self.period, retries: Backoff(first: .seconds(1), max: .seconds(10), jitter: 0.5...1), outage: outage,
            from: ()
        ) { [self] _ in
            do {
                return try await forwardBatch()
            } catch  where !Task.isCancelled {
                try? await measure()
                throw error
            }
        }.run()
    }

    /// The people service has not taken entries.
    private struct PeopleAway: Error, CustomStringConvertible {
        let failure: CommandFailure

        var description: String { "the people service has not taken them: \(failure)" }
    }

    /// Forwards the oldest entries.
    private func forwardBatch() async throws -> NextRun {
        let start = ContinuousClock.now
        let found = try await source.pendingAudit(limit: AddAuditEntries.maxEntries)
        let entries = found.map { ReadEntry($0) }
        let batch = Array(entries.prefix(Self.batchSize(of: found)))
        try await add(batch.filter { $0.entry != nil })
        for damaged in batch where damaged.entry == nil { try await setAside(damaged, because: "it is damaged") }

        if batch.count == found.count, found.count < AddAuditEntries.maxEntries {
            try await forwardedAll()
            return .periodic
        }
        try await measure()
        // Forwarding a backlog takes at most half of the time, so that it hardly slows down new changes, unless it is an old one.
        let age = found.first.map { UnixMilliseconds.now - $0.id.created } ?? 0
        return .after(age > Self.maxRelaxedAge ? .zero : ContinuousClock.now - start)
    }

    /// The number of first entries that fit into one command.
    static func batchSize(of entries: [PendingAuditEntry]) -> Int {
        var bytes = 0
        for (index, entry) in entries.prefix(AddAuditEntries.maxEntries).enumerated() {
            bytes += entry.json.utf8.count + 1
            if index > 0, bytes > maxBytes { return index }
        }
        return min(entries.count, AddAuditEntries.maxEntries)
    }

    /// A pending entry with its content.
    struct ReadEntry {
        let pending: PendingAuditEntry
        /// `nil` if it is damaged.
        let entry: WrittenAuditEntry?

        init(_ pending: PendingAuditEntry) {
            self.pending = pending
            let entry = WrittenAuditEntry(json: pending.json)
            self.entry = entry?.id == pending.id ? entry : nil
        }
    }

    /// Adds entries to the audit log, with one command, or with one for each if it refuses any of them.
    private func add(_ entries: [ReadEntry]) async throws {
        guard !entries.isEmpty else { return }
        guard let refusal = try await refusal(of: entries.compactMap(\.entry)) else {
            return try await source.acknowledgeAudit(entries.map(\.pending))
        }
        guard entries.count > 1 else { return try await setAside(entries[0], because: refusal) }
        for entry in entries { try await add([entry]) }
    }

    /// Sends entries to the people service.
    ///
    /// - Returns: Why it refuses them; `nil` if the audit log contains them now.
    private func refusal(of entries: [WrittenAuditEntry]) async throws -> String? {
        do throws(CommandFailure) {
            _ = try await people.request(AddAuditEntries(entries))
            return nil
        } catch {
            guard error.status == .invalid, !error.isUnknownCommand else { throw PeopleAway(failure: error) }
            return error.message
        }
    }

    /// Adds a substitute for a refused entry to the audit log, and marks the entry as refused in its store.
    private func setAside(_ refused: ReadEntry, because reason: String) async throws {
        let pending = refused.pending
        let isRecorded = try await refusal(of: [WrittenAuditEntry(.substitute(for: pending, because: reason))]) == nil
        try await source.refuseAudit(pending)
        state.withLock { $0.measured = nil }
        logger.error(
            isRecorded
                ? "an entry for the audit log was refused; the log has a substitute for it"
                : "an entry for the audit log was refused; the log lacks it",
            metadata: ["entry": "\(pending.id)", "error": "\(reason)"])
    }

    /// Counts what waits and what was refused, not too often.
    private func measure() async throws {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in state.measured.map { now - $0 >= Self.measurePeriod } ?? true }
        guard isDue else { return }
        let backlog = try await source.auditBacklog()
        state.withLock { $0 = State(backlog: backlog, measured: now) }
    }

    /// Notes that no entry is pending.
    private func forwardedAll() async throws {
        let isCountKnown = state.withLock { state in
            (state.backlog.count, state.backlog.oldest) = (0, nil)
            return state.measured != nil && state.backlog.refused == 0
        }
        // Refused entries are counted again: an operator may have removed them.
        if !isCountKnown { try await measure() }
    }
}

extension AuditBacklog {
    /// Entries reach the audit log within this time as long as the people service is there.
    private static let maxAge = Milliseconds.seconds(60)

    /// The state of the way to the audit log.
    func health(at now: UnixMilliseconds) -> PartHealth {
        guard refused == 0 else {
            return PartHealth(.invalid, "the audit log has refused \(refused) entries: see the service's log")
        }
        guard let oldest, now - oldest >= Self.maxAge else { return .ok }
        let number = count < Self.maxCounted ? "\(count)" : "more than \(Self.maxCounted)"
        // In minutes, so that the state does not change all the time.
        let minutes = (now - oldest).rawValue / 60_000
        return PartHealth(.unavailable, "\(number) entries wait for the audit log, the oldest for \(minutes) min")
    }
}

extension AuditEntry {
    /// Stands in the audit log for an entry that it refuses, or that is damaged.
    static func substitute(for entry: PendingAuditEntry, because reason: String) -> AuditEntry {
        let refused: NamedObject? = try? JSONCoder.decode(from: Data(entry.json.utf8))
        // Its object may be why it is refused.
        let object = refused.flatMap { (try? $0.object.check()) == nil ? nil : $0.object }
        return AuditEntry(
            id: entry.id, at: entry.id.created, by: .program, action: "audit.substitute",
            object: object ?? AuditObject(kind: "entry", id: "\(entry.id)"),
            after: ["entry": .string(entry.json), "reason": .string(reason)])
    }
}

/// What a damaged entry is about, if that is still readable.
private struct NamedObject: Decodable {
    let object: AuditObject
}
