import CCurl
import DedicatedThread
import Synchronization

/// HTTPS through libcurl's multi interface: all requests share a few HTTP/2 connections, on one thread of their own.
///
/// That thread alone touches libcurl's handles, but for `curl_multi_wakeup`, which is made for others. Callers leave their
/// requests in an inbox that the thread empties in one go. The inbox's lock is the only one there is.
final class CurlTransport: HTTPTransport {
    private struct State {
        var inbox: TransferInbox
        /// What the thread waits at; `nil` once it has ended.
        var multi: CurlMulti?
        var whenClosed: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// Starts the thread.
    ///
    /// - Throws: ``TransportError`` where libcurl or the system has no room for it.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        let loop = try TransferLoop(configuration)
        let multi = loop.multi
        state = Mutex(State(inbox: TransferInbox(maxOutstanding: configuration.maxOutstanding), multi: multi))
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
        let exchange = Exchange(requests)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.begin(continuation)
                submit(exchange)
                // The handler below may have run before there was anything to cancel.
                if Task.isCancelled { cancel(exchange) }
            }
        } onCancel: {
            cancel(exchange)
        }
        return exchange.outcomes
    }

    func refuseNewRequests() {
        state.withLock { $0.inbox.refuseNew() }
    }

    func renewConnections() {
        // No need to wake the thread: it is woken by the first request that they are for.
        state.withLock { $0.inbox.renewConnections() }
    }

    /// Fails every request that has no answer yet, refuses new ones, closes the connections and ends the thread.
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

    private func submit(_ exchange: Exchange) {
        let submission = state.withLock { state in
            let submission = state.inbox.submit(exchange)
            // Inside the lock: outside it, the thread may already have given the handle up.
            if case .accepted(wake: true) = submission { state.multi?.wakeUp() }
            return submission
        }
        if case .refused(let error) = submission { exchange.transfers.forEach { $0.end(.failure(error)) } }
    }

    private func cancel(_ exchange: Exchange) {
        state.withLock { state in
            if state.inbox.cancel(exchange) { state.multi?.wakeUp() }
        }
    }

    /// The thread: until it is told to stop.
    private func work(_ loop: consuming TransferLoop) {
        repeat {
            let ended = loop.takeEnded()
            let multi = loop.multi
            let batch = state.withLock { state in
                state.multi = multi
                return state.inbox.take(ended: ended)
            }
            loop.turn(batch)
        } while !loop.isStopped
        let waiting = state.withLock { state in
            state.multi = nil
            return state.whenClosed
        }
        loop.close()
        for continuation in waiting { continuation.resume() }
    }
}
