import Bus
import FoundationEssentials
import Base
import NIOCore
import Synchronization

/// Answers that depend only on the request's body. Equal requests within a short time share one.
///
/// The message log gives them, when ``AcceptedMessages`` cannot. Of thousands of phones that ask within seconds of an Alert, many have
/// the same subscriptions and have read everything, so their bodies are equal, byte by byte.
final class SharedAnswers: Sendable {
    typealias Work = @Sendable (_ body: Data, _ caller: CallerContext) async throws -> Data
    fileprivate typealias Answer = Task<ByteBuffer, any Error>

    private struct State {
        var answers: [ByteBuffer: Answer] = [:]
        /// The size of the bodies, and of the answers that are made.
        var bytes = 0
    }

    /// How long an answer is given to further callers after it was made.
    private static let sharingPeriod = Duration.milliseconds(250)

    private let maxBytes: Int
    private let work: Work
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maxBytes: The maximum size of the bodies and answers that are shared. One body may have 64 KiB, and one answer more than 1 MB.
    ///   - work: Makes the answer to a body.
    init(maxBytes: Int = 32 << 20, work: @escaping Work) {
        self.maxBytes = maxBytes
        self.work = work
    }

    /// The size of the bodies and answers that are shared now.
    var sharedBytes: Int { state.withLock(\.bytes) }

    /// - Throws: The error of the work.
    func answer(to body: ByteBuffer, for caller: CallerContext) async throws -> ByteBuffer {
        let (answer, isNew) = state.withLock { state in
            if let answer = state.answers[body] { return (answer, false) }
            let answer = Answer { [work] in ByteBuffer(bytes: try await work(Data(body.readableBytesView), caller)) }
            guard state.bytes + body.readableBytes <= maxBytes else { return (answer, false) }
            state.answers[body] = answer
            state.bytes += body.readableBytes
            return (answer, true)
        }
        if isNew { Task { await share(answer, to: body) } }
        return try await answer.value
    }

    /// Shares an answer until it is made and for a moment after that; a failure, or an answer without room, only until it is made.
    private func share(_ answer: Answer, to body: ByteBuffer) async {
        var size = body.readableBytes
        if let made = try? await answer.value.readableBytes,
            state.withLock({ state in
                guard state.bytes + made <= maxBytes else { return false }
                state.bytes += made
                return true
            })
        {
            size += made
            try? await Task.sleep(for: Self.sharingPeriod)
        }
        state.withLock { state in
            state.answers[body] = nil
            state.bytes -= size
        }
    }
}
