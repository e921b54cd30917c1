import Synchronization

/// A copy of all of a service's data. It is read again when it is asked for and no longer fresh.
final class FollowedCopy<Copy: Versioned, Event: VersionEvent>: Sendable where Copy.Version == Event.Version {
    /// Reads the data. `known` is the copy that the gateway has; it is returned if the service has no other version.
    typealias Reader = @Sendable (_ known: Copy?) async throws -> Copy

    private struct State {
        var copy: Copy?
        var reading: Task<Copy, any Error>?
    }

    private let version: FollowedVersion<Event>
    private let reader: Reader
    private let state = Mutex(State())

    init(of version: FollowedVersion<Event>, reader: @escaping Reader) {
        self.version = version
        self.reader = reader
    }

    /// The current data. It may lag by a moment.
    ///
    /// - Throws: The reader's error if there is no fresh copy.
    func current() async throws -> Copy {
        if let copy = freshCopy() { return copy }
        // A read that was already running may have begun before the change that it must show. The next one has not.
        var copy = try await read()
        for _ in 0..<2 {
            if let fresh = freshCopy() { return fresh }
            copy = try await read()
        }
        return copy
    }

    private func freshCopy() -> Copy? {
        guard let copy = state.withLock({ $0.copy }), version.isFresh(copy.version) else { return nil }
        return copy
    }

    /// Reads the data. Concurrent callers share one read.
    private func read() async throws -> Copy {
        let task = state.withLock { state in
            if let reading = state.reading { return reading }
            let task = Task { try await self.readAlone() }
            state.reading = task
            return task
        }
        return try await task.value
    }

    private func readAlone() async throws -> Copy {
        defer { state.withLock { $0.reading = nil } }
        let known = state.withLock { $0.copy }
        let asked = ContinuousClock.now
        let copy = try await reader(known)
        state.withLock { $0.copy = copy }
        version.read(copy.version, asked: asked)
        return copy
    }
}
