import Base
import ServiceLifecycle
import Synchronization

/// A copy of all of a service's data. One task makes the edits to it that the service and this gateway tell, as many at a time as are known.
/// It is read again when the service announces another version without its edit, when it differs from what the service says, and when it
/// is asked for and no longer fresh. While the service does not answer, the last copy is used for a grace period, with all edits that are
/// known.
final class FollowedCopy<Copy: Versioned, Event: VersionEvent>: Service
where Copy.Version == Event.Version, Copy.Edit == Event.Edit {
    /// Reads the data. `known` is the copy that the gateway has; it is returned if the service has no other version.
    typealias Reader = @Sendable (_ known: Copy?) async throws -> Copy

    private struct State {
        var copy = CopyState<Copy>()
        /// When the service last confirmed the version of the copy.
        var confirmed: ContinuousClock.Instant?
        /// Makes edits.
        var editing: Task<Void, Never>?
        var reading: Task<Result<Copy, any Error>, Never>?
        /// Whether the latest read has failed.
        var hasFailed = false
    }

    /// How long a request waits for the service if there is a usable copy.
    private static var waitTimeout: Duration { .milliseconds(200) }
    private static var gapPause: Duration { .milliseconds(2) }
    private static var maxGaps: Int { 10 }

    private let version: FollowedVersion<Event>
    private let grace: Duration
    private let gapTimeout: Duration
    private let reader: Reader
    private let state = Mutex(State())

    /// - Parameters:
    ///   - grace: How long the copy may be used after the service was last heard; 0 for only while it is fresh.
    ///   - gapTimeout: How long the edits of a version that is known may be missing, before all is read. Events and answers come on
    ///     different ways.
    init(
        of version: FollowedVersion<Event>, grace: Duration = .zero, gapTimeout: Duration = .zero, reader: @escaping Reader
    ) {
        self.version = version
        self.grace = grace
        self.gapTimeout = gapTimeout
        self.reader = reader
        version.observe { [weak self] event in self?.change { $0.hear(event, at: .now) } }
    }

    /// The current data. It may lag by a moment, and while the service is away by the grace period.
    ///
    /// - Throws: The reader's error if there is no usable copy.
    func current() async throws -> Copy {
        let wanted = version.latest
        if let copy = freshCopy(asOf: wanted) { return copy }
        await editsMade()
        if let copy = freshCopy(asOf: wanted) { return copy }
        guard usableUntil != nil else { return try await readFresh(asOf: wanted) }
        // While the service is away, requests do not wait for it.
        if !state.withLock(\.hasFailed) {
            let deadline = ContinuousClock.now + Self.waitTimeout
            for _ in 0..<Self.maxReads {
                guard await reading().finishes(by: deadline), !state.withLock(\.hasFailed) else { break }
                if let copy = freshCopy(asOf: wanted) { return copy }
            }
        }
        if let copy = await heldCopy() { return copy }
        return try await readFresh(asOf: wanted)
    }

    /// A read that was already running may have begun before the change that it must show. The next one has not.
    private static var maxReads: Int { 3 }

    private func readFresh(asOf wanted: Copy.Version?) async throws -> Copy {
        var copy = try await read()
        for _ in 1..<Self.maxReads {
            if let fresh = freshCopy(asOf: wanted) { return fresh }
            copy = try await read()
        }
        return copy
    }

    /// This gateway has made an edit. Every caller sees it from now on, even if the service goes away.
    func edited(_ edit: Copy.Edit) {
        version.edited(edit.version)
        change { $0.add(edit, at: .now) }
    }

    /// Until when the copy may be used if the service stays silent; `nil` if it may not be used.
    var usableUntil: ContinuousClock.Instant? {
        guard let confirmed = confirmed(), confirmed.advanced(by: grace) > .now else { return nil }
        return confirmed.advanced(by: grace)
    }

    /// When the service last confirmed the version of the copy; `nil` without a copy.
    private func confirmed() -> ContinuousClock.Instant? {
        state.withLock { state in
            guard let copy = state.copy.copy else { return nil }
            if let confirmed = version.confirmation(of: copy.version) { state.confirmed = confirmed }
            return state.confirmed
        }
    }

    private func freshCopy(asOf wanted: Copy.Version? = nil) -> Copy? {
        let copy = state.withLock { $0.copy.isWrong ? nil : $0.copy.copy }
        return copy.flatMap { version.isFresh($0.version, asOf: wanted) ? $0 : nil }
    }

    /// The copy with all edits, although some between them may be missing.
    private func heldCopy() async -> Copy? {
        guard usableUntil != nil else { return nil }
        let revision = revision
        for _ in 0..<Self.maxReads {
            if let copy = state.withLock({ $0.copy.copy(since: revision) }) { return copy }
            change { $0.wantAhead() }
            await editsMade()
        }
        return state.withLock { $0.copy.copy(since: revision) ?? $0.copy.copy }
    }

    // MARK: Edits

    /// Changes the state, and starts to make the edits that can be made now. A large copy takes time, so it is made outside the lock, and
    /// by one task.
    private func change(_ change: (inout CopyState<Copy>) -> Void) {
        state.withLock { state in
            change(&state.copy)
            if state.editing == nil, let step = state.copy.next() { state.editing = Task { self.make(step) } }
        }
    }

    private func make(_ step: CopyState<Copy>.Step) {
        let result = try? step.copy.applying(step.edits)
        state.withLock { state in
            state.copy.end(step, with: result)
            state.editing = state.copy.next().map { next in Task { self.make(next) } }
        }
    }

    /// Waits until the edits are made that can be made now. More may come all the time, so it waits for no more than the step under way, the
    /// one for the edits that follow, and that for the edits behind a gap.
    private func editsMade() async {
        for _ in 0..<3 {
            guard let editing = state.withLock(\.editing) else { return }
            await editing.value
        }
    }

    /// Waits for edits that are missing, as long as some come, and not for many gaps: without announcements only a read shows the version.
    ///
    /// - Returns: The copy if they have come.
    private func closedGap() async -> Copy? {
        let wanted = version.latest
        var last: Copy.Version?
        var deadline = ContinuousClock.now
        let end = deadline + gapTimeout * Self.maxGaps
        while .now <= end {
            await editsMade()
            if let copy = freshCopy(asOf: wanted) { return copy }
            let copy = state.withLock { $0.copy.isWrong ? nil : $0.copy.copy }
            guard let copy, let latest = version.latest, copy.version < latest else { return nil }
            if copy.version != last { (last, deadline) = (copy.version, .now + gapTimeout) }
            guard .now < deadline, (try? await Task.sleep(for: Self.gapPause)) != nil else { return nil }
        }
        return nil
    }

    // MARK: Reads

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
        defer { state.withLock { $0.reading = nil } }
        if let copy = await closedGap() { return copy }
        let read = state.withLock { $0.copy.beginRead(at: .now) }
        let data: Copy
        do {
            data = try await reader(read.known)
        } catch {
            state.withLock { $0.hasFailed = true }
            throw error
        }
        change { $0.end(read, with: data) }
        state.withLock { state in
            state.hasFailed = false
            if state.copy.copy?.version == data.version { state.confirmed = read.asked }
        }
        version.read(data.version, asked: read.asked)
        await editsMade()
        return state.withLock(\.copy.copy) ?? data
    }
}

// MARK: - An earlier process

extension FollowedCopy {
    /// The copy with all edits, and when the service last confirmed it; `nil` without a copy. It may take a while, so only a thread that may
    /// block calls it.
    var kept: (copy: Copy, confirmed: ContinuousClock.Instant)? {
        let (copy, edits) = state.withLock { ($0.copy.copy, $0.copy.pending) }
        guard let confirmed = confirmed(), let copy else { return nil }
        return ((try? copy.applying(edits)) ?? copy, confirmed)
    }

    /// Grows with each change of ``kept``.
    var revision: Int { state.withLock(\.copy.revision) }

    /// Takes the copy of an earlier process. It is usable within the grace period after it was confirmed.
    func restore(_ copy: Copy, confirmed: ContinuousClock.Instant) {
        state.withLock { state in
            guard state.copy.copy == nil else { return }
            state.copy.restore(copy)
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
