import Schemas
import Store
import Synchronization

/// The open sessions of classes, from memory. A session that this process has changed is read again at once; what another instance
/// has changed is at most a second old.
///
/// All readers of a class share one read, and it begins before the known sessions are too old, so that few have to wait.
final class ClassSessions: Sendable {
    private struct Known {
        let sessions: [SessionDocument]
        /// When the read began.
        let since: ContinuousClock.Instant
    }

    private struct Reading {
        let number: Int
        let task: Task<[SessionDocument], any Error>
    }

    private struct Entry {
        var known: Known?
        /// What has changed since.
        var changed: Set<ObjectID> = []
        var reading: Reading?
    }

    private struct State {
        var entries: [ObjectID: Entry] = [:]
        var readings = 0
        var swept = ContinuousClock.now
    }

    private enum Found {
        case known([SessionDocument])
        case reading(Task<[SessionDocument], any Error>)
    }

    private let store: Storage
    private let rules: @Sendable () -> StudyRules
    private let now: @Sendable () -> UnixMilliseconds
    private let maxAge: Duration
    private let state = Mutex(State())

    private static let pageSize = 500
    /// A read of any class drops what was read longer ago.
    private var keptFor: Duration { max(maxAge, .seconds(60)) }

    /// - Parameters:
    ///   - rules: The present limits.
    ///   - now: The clock.
    ///   - maxAge: How old the sessions may be that another instance changes; `nil` for a second. Several instances need MongoDB,
    ///     so what is read from a SQLite file is kept for an hour.
    init(
        store: Storage, rules: @escaping @Sendable () -> StudyRules, now: @escaping @Sendable () -> UnixMilliseconds,
        maxAge: Duration? = nil
    ) {
        self.store = store
        self.rules = rules
        self.now = now
        self.maxAge = maxAge ?? (store.tellsChanges ? .seconds(3_600) : .seconds(1))
    }

    /// How many open sessions a class has.
    func count(of classID: ObjectID) async throws -> Int {
        let (moment, limits) = (now(), rules())
        return try await open(in: [classID]).count { $0.isOpen(at: moment, limits) }
    }

    /// The sessions of classes that are stored as open, in any order. Some may be over.
    func open(in classes: [ObjectID]) async throws -> [SessionDocument] {
        let time = ContinuousClock.now
        var sessions: [SessionDocument] = []
        // First all reads begin.
        for found in classes.map({ find($0, at: time) }) {
            switch found {
            case .known(let known): sessions += known
            case .reading(let task): sessions += try await task.value
            }
        }
        return sessions
    }

    /// Sessions of a class have changed, or there are new ones.
    func changed(_ sessions: Set<ObjectID>, of classID: ObjectID) {
        state.withLock { state in
            state.entries[classID]?.changed.formUnion(sessions)
            // A read that is under way may have been too early. Who waits for it began before the change was committed.
            state.entries[classID]?.reading = nil
        }
    }

    /// Any session may have changed.
    func forgetAll() { state.withLock { $0.entries = [:] } }

    private func find(_ classID: ObjectID, at time: ContinuousClock.Instant) -> Found {
        state.withLock { state in
            var entry = state.entries[classID] ?? Entry()
            let age = entry.known.map { time - $0.since } ?? .seconds(86_400)
            let current = entry.changed.isEmpty ? entry.known : nil
            if let current, age <= maxAge / 2 { return .known(current.sessions) }
            let reading = entry.reading ?? begin(classID, after: age <= maxAge / 2 ? entry.known : nil, entry.changed, &state)
            entry.reading = reading
            state.entries[classID] = entry
            if let current, age <= maxAge { return .known(current.sessions) }
            return .reading(reading.task)
        }
    }

    /// - Parameters:
    ///   - known: What only lacks the changes; `nil` to read all sessions.
    ///   - changed: The sessions that have changed since.
    private func begin(_ classID: ObjectID, after known: Known?, _ changed: Set<ObjectID>, _ state: inout State) -> Reading {
        state.readings += 1
        let number = state.readings
        return Reading(number: number, task: Task { try await self.read(classID, after: known, changed, number: number) })
    }

    private func read(
        _ classID: ObjectID, after known: Known?, _ changed: Set<ObjectID>, number: Int
    ) async throws -> [SessionDocument] {
        do {
            let read = if let known { try await read(changed, after: known) } else { try await read(classID) }
            end(number, of: classID, read)
            return read.sessions
        } catch {
            end(number, of: classID, nil)
            throw error
        }
    }

    private func read(_ classID: ObjectID) async throws -> Known {
        let since = ContinuousClock.now
        var sessions: [SessionDocument] = []
        var cursor: Cursor?
        repeat {
            let page = try await store.page(
                of: StudyStore.sessions, .openSessions(of: classID), after: cursor, limit: Self.pageSize)
            sessions += page.documents.map(\.document)
            cursor = page.next
        } while cursor != nil
        return Known(sessions: sessions, since: since)
    }

    private func read(_ changed: Set<ObjectID>, after known: Known) async throws -> Known {
        let documents = try await store.get(all: Array(changed), from: StudyStore.sessions).map(\.document)
        let others = known.sessions.filter { !changed.contains($0.id) }
        return Known(sessions: (others + documents.filter { $0.open == true }).sorted { $0.id < $1.id }, since: known.since)
    }

    /// A read has ended. If a session of the class has changed since it began, its result is dropped.
    private func end(_ number: Int, of classID: ObjectID, _ known: Known?) {
        let time = ContinuousClock.now
        state.withLock { state in
            if state.entries[classID]?.reading?.number == number {
                state.entries[classID]?.reading = nil
                if let known {
                    state.entries[classID]?.known = known
                    state.entries[classID]?.changed = []
                }
            }
            guard time - state.swept > keptFor else { return }
            state.swept = time
            state.entries = state.entries.filter { _, entry in
                entry.reading != nil || entry.known.map { time - $0.since <= keptFor } ?? false
            }
        }
    }
}
