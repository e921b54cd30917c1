import Synchronization

/// Spreads requests over several transports, each with a thread and connections of its own: libcurl looks through all that is under
/// way at every turn, so that a thousand requests keep one thread busy where two halves of them do not.
final class SpreadTransport: HTTPTransport {
    private final class Share: Sendable {
        let transport: CurlTransport
        /// Requests that have no answer yet.
        let underWay = Atomic<Int>(0)

        init(_ configuration: CurlConfiguration) throws(TransportError) {
            transport = try CurlTransport(configuration)
        }
    }

    /// More take the processors from one another: FCM's quota is far below what two can do.
    private static let maxShares = 2

    private let shares: [Share]
    /// Equals take turns, so that each looks after its connections: libcurl finds those that the server has closed when it needs one.
    private let turn = Atomic<Int>(0)

    /// - Parameter configuration: Of all transports together.
    /// - Throws: ``TransportError`` where libcurl or the system has no room for them.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        let count = min(Self.maxShares, max(configuration.connectionsPerHost, 1))
        var shares: [Share] = []
        for index in 0..<count {
            var part = configuration
            // The first ones take what cannot be divided.
            part.connectionsPerHost = (configuration.connectionsPerHost + count - 1 - index) / count
            part.maxOutstanding = (configuration.maxOutstanding + count - 1 - index) / count
            // Where the second cannot start the first stays: the relay does not start either then.
            shares.append(try Share(part))
        }
        self.shares = shares
    }

    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        let share = share(for: requests.count)
        let outcomes = await share.transport.send(requests)
        share.underWay.subtract(requests.count, ordering: .relaxed)
        return outcomes
    }

    private func share(for count: Int) -> Share {
        let first = turn.wrappingAdd(1, ordering: .relaxed).newValue & .max
        var best = shares[first % shares.count]
        var least = best.underWay.load(ordering: .relaxed)
        for share in shares {
            let underWay = share.underWay.load(ordering: .relaxed)
            if underWay < least { (best, least) = (share, underWay) }
        }
        best.underWay.add(count, ordering: .relaxed)
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
