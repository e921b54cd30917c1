import CCurl
import DedicatedThread
import Synchronization

/// HTTPS through libcurl's multi interface: all requests share a few HTTP/2 connections on a dedicated thread.
///
/// Only that thread uses libcurl's handles, except for `curl_multi_wakeup`, which is thread-safe. Callers put their requests into
/// an inbox, which the thread empties at once. The inbox has the only lock.
final class CurlTransport: HTTPTransport {
    private struct State {
        var inbox: TransferInbox
        /// The handle that the thread waits on; `nil` once the thread has ended.
        var multi: CurlMulti?
        var whenClosed: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

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

    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        guard !requests.isEmpty else { return [] }
        let group = TransferGroup(requests)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                group.begin(continuation)
                submit(group)
                // The handler below may have run before the group was submitted.
                if Task.isCancelled { cancel(group) }
            }
        } onCancel: {
            cancel(group)
        }
        return group.outcomes
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

    private func submit(_ group: TransferGroup) {
        let submission = state.withLock { state in
            let submission = state.inbox.submit(group)
            // Inside the lock: outside it, the thread may already have freed the handle.
            if case .accepted(wake: true) = submission { state.multi?.wakeUp() }
            return submission
        }
        if case .refused(let error) = submission { group.transfers.forEach { $0.end(.failure(error)) } }
    }

    private func cancel(_ group: TransferGroup) {
        state.withLock { state in
            if state.inbox.cancel(group) { state.multi?.wakeUp() }
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
