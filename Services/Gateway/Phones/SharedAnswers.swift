import CommandBus
import FoundationEssentials
import JSON
import NIOCore
import Synchronization

/// Answers that depend on nothing but the request's body: equal requests of a moment share one.
///
/// Thousands of phones ask the same within seconds of an Alert. Most of them have the same subscriptions and have read everything, so
/// their bodies are equal, byte by byte.
final class SharedAnswers: Sendable {
    typealias Work = @Sendable (_ body: Data, _ caller: RequestContext) async throws -> Data

    fileprivate struct Entry {
        let answer: Task<ByteBuffer, any Error>
        let expires: ContinuousClock.Instant
        let bytes: Int
    }

    fileprivate struct State {
        var entries: [ByteBuffer: Entry] = [:]
        var bytes = 0
    }

    /// How long an answer is given to further callers, from the moment when it was asked for.
    private static let sharingPeriod = Duration.milliseconds(250)
    /// The maximum size of the bodies that are remembered. One body may have 64 KiB.
    fileprivate static let maxBytes = 8 << 20
    /// The maximum number of bodies that are remembered. An answer may have 400 KB.
    fileprivate static let maxEntries = 64

    private let work: Work
    private let state = Mutex(State())

    /// - Parameter work: Makes the answer to a body.
    init(work: @escaping Work) {
        self.work = work
    }

    /// - Throws: The error of the work.
    func answer(to body: ByteBuffer, for caller: RequestContext) async throws -> ByteBuffer {
        let now = ContinuousClock.now
        let task = state.withLock { state in
            if let entry = state.entries[body], entry.expires > now { return entry.answer }
            let task = Task { [work] in ByteBuffer(bytes: try await work(Data(body.readableBytesView), caller)) }
            state.remember(Entry(answer: task, expires: now + Self.sharingPeriod, bytes: body.readableBytes), of: body, at: now)
            return task
        }
        return try await task.value
    }
}

extension SharedAnswers.State {
    /// Remembers an answer if there is room. What has expired makes room.
    fileprivate mutating func remember(_ entry: SharedAnswers.Entry, of body: ByteBuffer, at now: ContinuousClock.Instant) {
        forget(body)
        if entries.count >= SharedAnswers.maxEntries || bytes + entry.bytes > SharedAnswers.maxBytes {
            for (body, entry) in entries where entry.expires <= now { forget(body) }
        }
        guard entries.count < SharedAnswers.maxEntries, bytes + entry.bytes <= SharedAnswers.maxBytes else { return }
        entries[body] = entry
        bytes += entry.bytes
    }

    private mutating func forget(_ body: ByteBuffer) {
        if let former = entries.removeValue(forKey: body) { bytes -= former.bytes }
    }
}
