import DedicatedThread
import ServiceLifecycle
import Synchronization
import Time

/// A copy of all of a service's data. It is read again when the service announces another version, and when it is asked for and no
/// longer fresh. While the service does not answer, the last copy is used for a grace period, with the edits of this gateway.
final class FollowedCopy<Copy: Versioned, Event: VersionEvent>: Service where Copy.Version == Event.Version {
    /// Reads the data. `known` is the copy that the gateway has; it is returned if the service has no other version.
    typealias Reader = @Sendable (_ known: Copy?) async throws -> Copy

    private struct State {
        var copy: Copy?
        /// When the service last confirmed the version of the copy.
        var confirmed: ContinuousClock.Instant?
        /// The edits of this gateway that the copy does not contain, and when they were made.
        var edits: [(edit: Copy.Edit, made: ContinuousClock.Instant)] = []
        /// The copy with the edits; `nil` until it is needed.
        var edited: Copy?
        var reading: Task<Result<Copy, any Error>, Never>?
        /// Whether the latest read has failed.
        var hasFailed = false
        /// Grows with each other copy and each edit.
        var revision = 0

        /// The copy with the edits.
        mutating func editedCopy() -> Copy? {
            if edited == nil { edited = try? copy?.applying(edits.map(\.edit)) }
            return edited
        }
    }

    /// How long a request waits for the service if there is a usable copy.
    private static var waitTimeout: Duration { .milliseconds(200) }

    private let version: FollowedVersion<Event>
    private let grace: Duration
    private let reader: Reader
    private let state = Mutex(State())

    /// - Parameter grace: How long the copy may be used after the service was last heard; 0 for only while it is fresh.
    init(of version: FollowedVersion<Event>, grace: Duration = .zero, reader: @escaping Reader) {
        self.version = version
        self.grace = grace
        self.reader = reader
    }

    /// The current data. It may lag by a moment, and while the service is away by the grace period.
    ///
    /// - Throws: The reader's error if there is no usable copy.
    func current() async throws -> Copy {
        if let copy = freshCopy() { return copy }
        guard usableUntil != nil else { return try await readFresh() }
        // While the service is away, requests do not wait for it.
        if !state.withLock(\.hasFailed) {
            let deadline = ContinuousClock.now + Self.waitTimeout
            for _ in 0..<Self.maxReads {
                guard await reading().finishes(by: deadline), !state.withLock(\.hasFailed) else { break }
                if let copy = freshCopy() { return copy }
            }
        }
        if let copy = heldCopy() { return copy }
        return try await readFresh()
    }

    /// A read that was already running may have begun before the change that it must show. The next one has not.
    private static var maxReads: Int { 3 }

    private func readFresh() async throws -> Copy {
        var copy = try await read()
        for _ in 1..<Self.maxReads {
            if let fresh = freshCopy() { return fresh }
            copy = try await read()
        }
        return copy
    }

    /// This gateway has made an edit. Every caller sees it from now on, even if the service goes away.
    func edited(_ edit: Copy.Edit) {
        state.withLock { state in
            state.revision += 1
            state.edits.append((edit, .now))
            state.edited = nil
        }
        version.edited(edit.version)
    }

    /// Until when the copy may be used if the service stays silent; `nil` if it may not be used.
    var usableUntil: ContinuousClock.Instant? {
        guard let confirmed = confirmed(), confirmed.advanced(by: grace) > .now else { return nil }
        return confirmed.advanced(by: grace)
    }

    /// When the service last confirmed the version of the copy; `nil` without a copy.
    private func confirmed() -> ContinuousClock.Instant? {
        state.withLock { state in
            guard let copy = state.copy else { return nil }
            if let confirmed = version.confirmation(of: copy.version) { state.confirmed = confirmed }
            return state.confirmed
        }
    }

    private func freshCopy() -> Copy? {
        guard let copy = state.withLock(\.copy), version.isFresh(copy.version) else { return nil }
        return copy
    }

    private func heldCopy() -> Copy? {
        guard usableUntil != nil else { return nil }
        return state.withLock { $0.editedCopy() }
    }

    /// Reads the data. Concurrent callers share one read.
    private func read() async throws -> Copy {
        try await reading().value.get()
    }

    private func reading() -> Task<Result<Copy, any Error>, Never> {
        state.withLock { state in
            if let reading = state.reading { return reading }
            let task = Task { () -> Result<Copy, any Error> in
                do {
                    return .success(try await self.readAlone())
                } catch {
                    return .failure(error)
                }
            }
            state.reading = task
            return task
        }
    }

    private func readAlone() async throws -> Copy {
        let known = state.withLock { $0.copy }
        let asked = ContinuousClock.now
        let result: Result<Copy, any Error>
        do {
            result = .success(try await reader(known))
        } catch {
            result = .failure(error)
        }
        state.withLock { state in
            state.reading = nil
            switch result {
            case .success(let copy):
                if state.copy?.version != copy.version { state.revision += 1 }
                state.copy = copy
                state.confirmed = asked
                state.edits.removeAll { $0.made <= asked || $0.edit.version <= copy.version }
                state.edited = nil
                state.hasFailed = false
            case .failure: state.hasFailed = true
            }
        }
        let copy = try result.get()
        version.read(copy.version, asked: asked)
        return copy
    }
}

// MARK: - A former process

extension FollowedCopy {
    /// The copy with this gateway's edits, and when the service last confirmed it; `nil` without a copy.
    var kept: (copy: Copy, confirmed: ContinuousClock.Instant)? {
        guard let confirmed = confirmed(), let copy = state.withLock({ $0.editedCopy() }) else { return nil }
        return (copy, confirmed)
    }

    /// Grows with each other copy and each edit.
    var revision: Int { state.withLock(\.revision) }

    /// Takes the copy of a former process. It is usable within the grace period after it was confirmed.
    func restore(_ copy: Copy, confirmed: ContinuousClock.Instant) {
        state.withLock { state in
            guard state.copy == nil else { return }
            state.copy = copy
            state.confirmed = confirmed
        }
    }
}

extension FollowedCopy {
    /// Keeps the copy current, so that it is complete when the service goes away.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            self.version.wake(wakeUps.continuation)
            await withTaskGroup { group in
                group.addTask {
                    repeat { wakeUps.continuation.yield() } while (try? await Task.sleep(untilNext: Self.period)) != nil
                    wakeUps.continuation.finish()
                }
                for await _ in wakeUps.stream {
                    _ = self.confirmed()
                    await self.readUntilFresh()
                }
            }
        }
    }

    private func readUntilFresh() async {
        while !Task.isCancelled, freshCopy() == nil {
            let began = ContinuousClock.now
            // After an error the next round tries again.
            _ = try? await read()
            // Reads of a large copy that changes all the time take at most a quarter of a processor.
            try? await Task.sleep(for: min(max(Self.minPause, (.now - began) * 3), Self.maxPause))
        }
    }

    /// The interval of checks whether the copy is fresh, in addition to those after events.
    private static var period: Duration { .seconds(1) }
    private static var minPause: Duration { .milliseconds(250) }
    private static var maxPause: Duration { .seconds(10) }
}
