import Synchronization

/// HTTPS through libcurl's multi interface: all requests share a few HTTP/2 connections on dedicated threads.
///
/// libcurl scans all transfers in every iteration. So a thousand transfers saturate one thread, while two threads with half of them
/// each are not saturated.
final class CurlTransport: HTTPTransport {
    private let threads: [TransferThread]
    /// Equally busy threads take turns, so that each uses its connections: libcurl detects a closed connection only when it needs
    /// one.
    private let nextThread = Atomic<Int>(0)

    /// - Parameter configuration: The limits of all threads together. There are not more threads than connections.
    /// - Throws: ``TransportError`` if libcurl or the system has no resources.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        let count = max(1, min(configuration.threads, configuration.connectionsPerHost))
        var threads: [TransferThread] = []
        for index in 0..<count {
            var part = configuration
            // The first ones get the remainder.
            part.connectionsPerHost = (configuration.connectionsPerHost + count - 1 - index) / count
            part.maxPending = (configuration.maxPending + count - 1 - index) / count
            // If the second one cannot start, the first one is not closed: the relay does not start then.
            threads.append(try TransferThread(part))
        }
        self.threads = threads
    }

    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
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

    func refuseNewRequests() {
        for thread in threads { thread.refuseNewRequests() }
    }

    func renewConnections() {
        for thread in threads { thread.renewConnections() }
    }

    func close() async {
        for thread in threads { await thread.close() }
    }
}

/// The network settings of ``CurlTransport``.
struct CurlConfiguration: Sendable {
    /// PEM certificates to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// The maximum number of threads. More than two would only compete for the processors: FCM's quota is far below the rate of two.
    var threads = 2
    /// The maximum number of HTTP/2 connections to one host. A connection is opened when all streams of the others are in use.
    var connectionsPerHost = 10
    /// The maximum number of streams on one connection, unless the server allows fewer. FCM allows 100.
    var streamsPerConnection = 100
    /// The maximum number of accepted and unanswered requests. Further ones are refused as `overloaded`.
    var maxPending = 10_000
    /// The timeout for making a connection, including TLS.
    var connectTimeout = Duration.seconds(5)
    /// A connection that was idle for this time is not used again: FCM closes it after about three minutes.
    var idleTimeout = Duration.seconds(118)
    /// A connection of this age is not used again: FCM closes it after one hour.
    var maxConnectionAge = Duration.seconds(3_300)
    /// A connection that has had a request for this time and has answered nothing since gets no further requests.
    var silenceTimeout = Duration.seconds(3)
    /// How long the kernel retransmits unacknowledged data before it closes the connection (`TCP_USER_TIMEOUT`).
    var acknowledgementTimeout = Duration.seconds(10)
    /// After this idle time, and at this interval, TCP keep-alive probes a connection.
    var keepAliveInterval = Duration.seconds(30)
    /// The maximum body of an answer, in bytes. The longest lists a phone's 2,000 topics, whose names may have 900 characters, with
    /// their dates: 2 MB.
    var maxBodyBytes = 4 << 20

    /// The number of concurrent requests that the connections to one host carry.
    var maxInFlight: Int { connectionsPerHost * streamsPerConnection }
}
