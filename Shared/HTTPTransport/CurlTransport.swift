import Synchronization

/// HTTPS through libcurl's multi interface: all requests share a few HTTP/2 connections on dedicated threads.
///
/// libcurl scans all transfers in every iteration. So a thousand transfers saturate one thread, while two threads with half of them
/// each are not saturated.
package final class CurlTransport: HTTPTransport {
    private let threads: [TransferThread]
    /// Equally busy threads take turns, so that each uses its connections: libcurl detects a closed connection only when it needs
    /// one.
    private let nextThread = Atomic<Int>(0)

    /// - Parameter configuration: The limits of all threads together. There are not more threads than connections.
    /// - Throws: ``TransportError`` if libcurl or the system has no resources.
    package init(_ configuration: CurlConfiguration) throws(TransportError) {
        let count = max(1, min(configuration.threads, configuration.connectionsPerHost))
        var threads: [TransferThread] = []
        for index in 0..<count {
            var part = configuration
            // The first ones get the remainder.
            part.connectionsPerHost = (configuration.connectionsPerHost + count - 1 - index) / count
            part.maxPending = (configuration.maxPending + count - 1 - index) / count
            // If the second one cannot start, the first one is not closed: the service does not start then.
            threads.append(try TransferThread(part))
        }
        self.threads = threads
    }

    package func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        guard !requests.isEmpty else { return [] }
        let group = TransferGroup(requests)
        let thread = thread(for: requests.count)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                group.begin(continuation)
                thread.submit(group)
                // The handler below may have run before the group was submitted.
                if Task.isCancelled { thread.cancel(group) }
            }
        } onCancel: {
            thread.cancel(group)
        }
        thread.pending.subtract(requests.count, ordering: .relaxed)
        return group.outcomes
    }

    /// The least busy thread, with these requests added to its pending ones.
    private func thread(for count: Int) -> TransferThread {
        let first = nextThread.wrappingAdd(1, ordering: .relaxed).newValue & .max
        var best = threads[first % threads.count]
        var least = best.pending.load(ordering: .relaxed)
        for thread in threads {
            let pending = thread.pending.load(ordering: .relaxed)
            if pending < least { (best, least) = (thread, pending) }
        }
        best.pending.add(count, ordering: .relaxed)
        return best
    }

    package func refuseNewRequests() {
        for thread in threads { thread.refuseNewRequests() }
    }

    package func renewConnections() {
        for thread in threads { thread.renewConnections() }
    }

    package func close() async {
        for thread in threads { await thread.close() }
    }
}
