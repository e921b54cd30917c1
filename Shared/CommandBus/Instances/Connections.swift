import Logging
import Time

/// The connectors of a client or a subscriber: one for each fixed endpoint, and one for each instance of a pattern.
///
/// Its owner is a ``BusParticipant``. Sockets are opened and closed only by ``renew(now:)``.
struct Connections {
    /// By the number of the endpoint. A closed one keeps its place until another endpoint takes its number.
    private(set) var connectors: [Connector] = []
    private var slots: EndpointSlots
    /// The latest instances.
    private var instances: [String]
    private let connect: (String) throws(BusError) -> Connector
    private let logger: Logger
    /// When to try again to open what could not be opened.
    private var retryAt: MonotonicMilliseconds?
    /// Why it could not be opened. It is logged already.
    private var lastProblem: String?

    private static let retryInterval: Milliseconds = 1_000

    /// - Parameters:
    ///   - instances: Those of the patterns.
    ///   - connect: Makes the connector for an endpoint.
    init(
        to endpoints: ClientEndpoints, instances: [String], logger: Logger,
        connect: @escaping (String) throws(BusError) -> Connector
    ) throws(BusError) {
        slots = EndpointSlots(fixed: endpoints.fixed, instances: instances)
        self.instances = instances
        self.connect = connect
        self.logger = logger
        do {
            for endpoint in endpoints.fixed + instances { connectors.append(try connect(endpoint)) }
        } catch {
            close()
            throw error
        }
    }

    /// The sockets for messages, and then those of the monitors, by the numbers of their endpoints.
    var sockets: [ZeroMQSocket] { connectors.map(\.socket) + connectors.map(\.monitor.socket) }

    func endpoint(_ number: Int) -> String { slots.endpoint(number) }

    /// Why an endpoint is not connected, if that is known of any.
    var problem: ConnectionProblem? { connectors.lazy.compactMap(\.problem).first }

    // MARK: Events

    /// The instances of the patterns that are there now.
    mutating func found(_ instances: [String]) {
        self.instances = instances
        slots.found(instances)
    }

    mutating func connected(_ number: Int) {
        slots.connected(number)
        connectors[number].connected()
    }

    /// The connection was lost.
    ///
    /// - Returns: The connector, which its owner tells how to go on.
    mutating func disconnected(_ number: Int) -> Connector {
        slots.disconnected(number)
        return connectors[number]
    }

    var nextTick: MonotonicMilliseconds? {
        if slots.hasChanges { return 0 }
        let next = min(retryAt ?? .max, connectors.lazy.compactMap(\.nextTick).min() ?? .max)
        return next == .max ? nil : next
    }

    /// - Returns: The connections that must end, because the service's key was taken from the list of peers.
    func tick(now: MonotonicMilliseconds) -> [Int] {
        for connector in connectors { connector.tick(now: now) }
        return connectors.indices.filter { connectors[$0].hasLostTrust }
    }

    /// Opens the connections to new instances, and closes those of instances that are gone.
    ///
    /// - Returns: What has changed.
    mutating func renew(now: MonotonicMilliseconds) -> [EndpointSlots.Change] {
        if let due = retryAt, due <= now {
            retryAt = nil
            slots.found(instances)
        }
        guard slots.hasChanges else { return [] }
        var changed: [EndpointSlots.Change] = []
        for change in slots.takeChanges() {
            switch change {
            case .open(let number, let endpoint):
                // After a failure the rest waits as well, so that there is no gap in the numbers.
                guard retryAt == nil, open(endpoint, as: number) else {
                    slots.failed(number)
                    retryAt = now + Self.retryInterval
                    continue
                }
            case .close(let number), .leaving(let number), .back(let number):
                // It could not be opened.
                guard number < connectors.count else { continue }
                if case .close = change { connectors[number].close() }
            }
            changed.append(change)
        }
        return changed
    }

    private mutating func open(_ endpoint: String, as number: Int) -> Bool {
        do {
            let connector = try connect(endpoint)
            if number == connectors.count { connectors.append(connector) } else { connectors[number] = connector }
            lastProblem = nil
            return true
        } catch {
            if error.message != lastProblem {
                logger.error("cannot connect to an instance", metadata: ["endpoint": "\(endpoint)", "error": "\(error)"])
            }
            lastProblem = error.message
            return false
        }
    }

    func close() {
        for connector in connectors { connector.close() }
    }
}
