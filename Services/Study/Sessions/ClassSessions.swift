import Schemas
import Store
import Synchronization

/// The open sessions of classes, from memory. What this process has changed is read again at once; what another instance has
/// changed is at most a second old.
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
    /// A read of any class drops what was read longer ago. The sessions of a class also go when one of them changes or ends.
    private static let keptFor = Duration.seconds(60)

    /// - Parameters:
    ///   - rules: The present limits.
    ///   - now: The clock.
    ///   - maxAge: How old the sessions may be that another instance changes; `nil` for a second. Several instances need MongoDB,
    ///     so what is read from a SQLite file is kept for longer.
    init(
        store: Storage, rules: @escaping @Sendable () -> StudyRules, now: @escaping @Sendable () -> UnixMilliseconds,
        maxAge: Duration? = nil
    ) {
        self.store = store
        self.rules = rules
        self.now = now
        self.maxAge = maxAge ?? (store.tellsChanges ? .seconds(30) : .seconds(1))
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

    /// The sessions of a class have changed.
    func forget(_ classID: ObjectID) {
        // A read that is under way may have been too early. Who waits for it began before the change was committed.
        state.withLock { $0.entries[classID] = nil }
    }

    private func find(_ classID: ObjectID, at time: ContinuousClock.Instant) -> Found {
        state.withLock { state in
            var entry = state.entries[classID] ?? Entry()
            let age = entry.known.map { time - $0.since } ?? .seconds(3_600)
            if let known = entry.known, age <= maxAge / 2 { return .known(known.sessions) }
            let reading = entry.reading ?? begin(classID, &state)
            entry.reading = reading
            state.entries[classID] = entry
            if let known = entry.known, age <= maxAge { return .known(known.sessions) }
            return .reading(reading.task)
        }
    }

    private func begin(_ classID: ObjectID, _ state: inout State) -> Reading {
        state.readings += 1
        let number = state.readings
        return Reading(number: number, task: Task { try await self.read(classID, number: number) })
    }

    private func read(_ classID: ObjectID, number: Int) async throws -> [SessionDocument] {
        let since = ContinuousClock.now
        do {
            var sessions: [SessionDocument] = []
            var cursor: Cursor?
            repeat {
                let page = try await store.page(
                    of: StudyStore.sessions, .openSessions(of: classID), after: cursor, limit: Self.pageSize)
                sessions += page.documents.map(\.document)
                cursor = page.next
            } while cursor != nil
            end(number, of: classID, Known(sessions: sessions, since: since))
            return sessions
        } catch {
            end(number, of: classID, nil)
            throw error
        }
    }

    /// A read has ended. If the class was forgotten since it began, its result is as well.
    private func end(_ number: Int, of classID: ObjectID, _ known: Known?) {
        let time = ContinuousClock.now
        state.withLock { state in
            if state.entries[classID]?.reading?.number == number {
                state.entries[classID]?.reading = nil
                if let known { state.entries[classID]?.known = known }
            }
            guard time - state.swept > Self.keptFor else { return }
            state.swept = time
            state.entries = state.entries.filter { _, entry in
                entry.reading != nil || entry.known.map { time - $0.since <= Self.keptFor } ?? false
            }
        }
    }
}
