import Base
import Synchronization

/// One of the transport's threads with its connections.
///
/// Only this thread uses libcurl's handles, except for `curl_multi_wakeup`, which is thread-safe. Callers put their requests into
/// an inbox, which the thread empties at once. The inbox has the only lock.
final class TransferThread: Sendable {
    private struct State {
        var inbox: TransferInbox
        /// The handle that the thread waits on; `nil` once the thread has ended.
        var multi: CurlMulti?
        var whenClosed: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// The number of requests that callers wait for.
    let pending = Atomic<Int>(0)

    /// Starts the thread.
    ///
    /// - Throws: ``TransportError`` if libcurl or the system has no resources.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        let loop = try TransferLoop(configuration)
        let multi = loop.multi
        state = Mutex(State(inbox: TransferInbox(maxPending: configuration.maxPending), multi: multi))
        do {
            try DedicatedThread.start { self.work(loop) }
        } catch {
            multi.close()
            state.withLock { $0.multi = nil }
            throw TransportError(.other, error.description)
        }
    }

    /// Hands a group over to the thread, or ends it with an error.
    func submit(_ group: TransferGroup) {
        let submission = state.withLock { state in
            let submission = state.inbox.submit(group)
            // Inside the lock: outside it, the thread may already have freed the handle.
            if case .accepted(wake: true) = submission { state.multi?.wakeUp() }
            return submission
        }
        if case .refused(let error) = submission { group.transfers.forEach { $0.end(.failure(error)) } }
    }

    /// Ends a group's transfers, unless they have ended.
    func cancel(_ group: TransferGroup) {
        state.withLock { state in
            if state.inbox.cancel(group) { state.multi?.wakeUp() }
        }
    }

    func refuseNewRequests() {
        state.withLock { $0.inbox.refuseNew() }
    }

    func renewConnections() {
        // The first request for the new connections wakes the thread.
        state.withLock { $0.inbox.renewConnections() }
    }

    /// Fails all unanswered requests, refuses new ones, closes the connections and ends the thread.
    func close() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                guard let multi = state.multi else { return true }
                state.whenClosed.append(continuation)
                if state.inbox.stop() { multi.wakeUp() }
                return false
            }
            if isClosed { continuation.resume() }
        }
    }

    /// The thread's loop, until it is stopped.
    private func work(_ loop: consuming TransferLoop) {
        repeat {
            let ended = loop.takeEnded()
            let multi = loop.multi
            let batch = state.withLock { state in
                state.multi = multi
                return state.inbox.take(ended: ended)
            }
            loop.runOnce(batch)
        } while !loop.isStopped
        let waiting = state.withLock { state in
            state.multi = nil
            return state.whenClosed
        }
        loop.close()
        for continuation in waiting { continuation.resume() }
    }
}

/// Requests and other calls for one of the transport's threads. ``TransferThread`` guards it with its lock.
struct TransferInbox {
    /// Everything that has arrived since the thread's last take.
    struct Batch {
        var arrivals: [TransferGroup] = []
        /// Cancelled groups. Some may have ended, and some may not be submitted yet.
        var cancelled: [TransferGroup] = []
        /// Whether the arrivals use new connections.
        var renewsConnections = false
        var isStopping = false
    }

    enum Submission {
        case accepted(wake: Bool)
        case refused(TransportError)
    }

    private let maxPending: Int
    private var pending = 0
    private var batch = Batch()
    /// Whether a wake-up is pending. The thread will then see everything that is added before its next take.
    private var isWoken = false
    private var refusesNew = false

    init(maxPending: Int) {
        self.maxPending = maxPending
    }

    /// Accepts all transfers of a group, or none.
    mutating func submit(_ group: TransferGroup) -> Submission {
        if batch.isStopping || refusesNew { return .refused(TransportError(.stopped, "the relay is stopping")) }
        if pending + group.transfers.count > maxPending {
            return .refused(TransportError(.overloaded, "as many as \(maxPending) requests wait already"))
        }
        pending += group.transfers.count
        batch.arrivals.append(group)
        return .accepted(wake: wake())
    }

    /// - Returns: Whether the thread must be woken.
    mutating func cancel(_ group: TransferGroup) -> Bool {
        if batch.isStopping { return false }
        batch.cancelled.append(group)
        return wake()
    }

    /// Refuses new groups. Earlier ones continue.
    mutating func refuseNew() {
        refusesNew = true
    }

    /// The current batch and all later ones use new connections.
    mutating func renewConnections() {
        batch.renewsConnections = true
    }

    /// - Returns: Whether the thread must be woken.
    mutating func stop() -> Bool {
        if batch.isStopping { return false }
        batch.isStopping = true
        return wake()
    }

    /// Hands everything to the thread.
    ///
    /// - Parameter ended: How many transfers the thread has ended since it last asked.
    mutating func take(ended: Int) -> Batch {
        pending -= ended
        isWoken = false
        defer { batch = Batch(isStopping: batch.isStopping) }
        return batch
    }

    private mutating func wake() -> Bool {
        defer { isWoken = true }
        return !isWoken
    }
}
