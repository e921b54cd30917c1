import DequeModule
import NIOCore
import Synchronization

/// The bytes that one stream has still to write. A client that reads too slowly is cut off: it reconnects and resumes.
final class EventStreamQueue: Sendable {
    private struct State {
        var pending: Deque<ByteBuffer> = []
        var pendingBytes = 0
        var taker: CheckedContinuation<ByteBuffer?, Never>?
        var isFinished = false
    }

    /// The maximum number of waiting bytes. Streams share them, so the memory for one stream is less.
    static let maxPendingBytes = 512 * 1_024
    /// How long a client may still read when its stream ends.
    private static let closingTimeout = TimeAmount.seconds(1)

    private let channel: any Channel
    private let state = Mutex(State())

    /// - Parameter channel: The stream's connection.
    init(on channel: any Channel) {
        self.channel = channel
    }

    /// Adds bytes. If too many are waiting, the connection is closed.
    func put(_ buffer: ByteBuffer) {
        let (taker, isFull) = state.withLock { state -> (CheckedContinuation<ByteBuffer?, Never>?, Bool) in
            guard !state.isFinished else { return (nil, false) }
            if let taker = state.taker {
                state.taker = nil
                return (taker, false)
            }
            guard state.pending.isEmpty || state.pendingBytes + buffer.readableBytes <= Self.maxPendingBytes else {
                state.isFinished = true
                state.pending = []
                return (nil, true)
            }
            state.pending.append(buffer)
            state.pendingBytes += buffer.readableBytes
            return (nil, false)
        }
        taker?.resume(returning: buffer)
        if isFull { channel.close(promise: nil) }
    }

    /// Waits for the next bytes; `nil` at the end. Only one task may wait.
    func next() async -> ByteBuffer? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: ByteBuffer?? = state.withLock { state in
                    if let buffer = state.pending.popFirst() {
                        state.pendingBytes -= buffer.readableBytes
                        return .some(buffer)
                    }
                    if state.isFinished { return .some(nil) }
                    state.taker = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            finish()
        }
    }

    /// Ends the stream after the waiting bytes. If the client does not read them, the connection is closed.
    func finish() {
        let taker = state.withLock { state in
            state.isFinished = true
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: nil)
        let channel = channel
        channel.eventLoop.scheduleTask(in: Self.closingTimeout) { channel.close(promise: nil) }
    }
}
