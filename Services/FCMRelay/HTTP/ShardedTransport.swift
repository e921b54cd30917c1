import Synchronization

/// Spreads requests over several transports, each with its own thread and connections. libcurl scans all transfers in every iteration.
/// So a thousand transfers saturate one thread, while two threads with half of them each are not saturated.
final class ShardedTransport: HTTPTransport {
    private final class Share: Sendable {
        let transport: CurlTransport
        /// Unanswered requests.
        let pending = Atomic<Int>(0)

        init(_ configuration: CurlConfiguration) throws(TransportError) {
            transport = try CurlTransport(configuration)
        }
    }

    /// More threads would only compete for the processors: FCM's quota is far below the rate of two.
    private static let maxShares = 2

    private let shares: [Share]
    /// Equally busy transports take turns, so that each uses its connections: libcurl detects a closed connection only
    /// when it needs one.
    private let nextShare = Atomic<Int>(0)

    /// - Parameter configuration: The limits of all transports together.
    /// - Throws: ``TransportError`` if libcurl or the system has no resources.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        let count = min(Self.maxShares, max(configuration.connectionsPerHost, 1))
        var shares: [Share] = []
        for index in 0..<count {
            var part = configuration
            // The first ones get the remainder.
            part.connectionsPerHost = (configuration.connectionsPerHost + count - 1 - index) / count
            part.maxPending = (configuration.maxPending + count - 1 - index) / count
            // If the second one cannot start, the first one is not closed: the relay does not start then.
            shares.append(try Share(part))
        }
        self.shares = shares
    }

    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        let share = share(for: requests.count)
        let outcomes = await share.transport.send(requests)
        share.pending.subtract(requests.count, ordering: .relaxed)
        return outcomes
    }

    private func share(for count: Int) -> Share {
        let first = nextShare.wrappingAdd(1, ordering: .relaxed).newValue & .max
        var best = shares[first % shares.count]
        var least = best.pending.load(ordering: .relaxed)
        for share in shares {
            let pending = share.pending.load(ordering: .relaxed)
            if pending < least { (best, least) = (share, pending) }
        }
        best.pending.add(count, ordering: .relaxed)
        return best
    }

    func refuseNewRequests() {
        for share in shares { share.transport.refuseNewRequests() }
    }

    func renewConnections() {
        for share in shares { share.transport.renewConnections() }
    }

    func close() async {
        for share in shares { await share.transport.close() }
    }
}
