import Logging
import Base

/// The connectors of a client or a subscriber: one for each fixed endpoint, and one for each instance of a pattern.
///
/// Its owner is a ``BusParticipant``. Sockets are opened and closed only by ``renew(now:)``.
struct Connections {
    /// The connectors by the numbers of their endpoints. A closed one keeps its place until another endpoint takes its number.
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
    ///   - instances: The instances of the patterns.
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

    /// The instances that the last scan of the patterns found.
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
    /// - Returns: The connector, which the owner lets reconnect or give up.
    mutating func disconnected(_ number: Int) -> Connector {
        slots.disconnected(number)
        return connectors[number]
    }

    var nextTick: MonotonicMilliseconds? {
        if slots.hasChanges { return 0 }
        let next = min(retryAt ?? .max, connectors.lazy.map(\.nextTick).min() ?? .max)
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
                // After a failure the others wait too, so that the numbers have no gap.
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

/// Numbers the endpoints to which a client or a subscriber is connected. The instances of a pattern come and go. A pure value.
///
/// An instance whose socket's file is gone is *leaving*. It keeps its connection as long as that lasts: it may still send its last
/// replies, or only its file was removed, and will be there again.
struct EndpointSlots {
    enum Change: Hashable {
        /// Connect to this endpoint. It gets the next number, or that of a closed one.
        case open(Int, endpoint: String)
        case close(Int)
        case leaving(Int)
        /// The file of a leaving instance is there again.
        case back(Int)
    }

    private struct Slot {
        enum State: Equatable {
            /// The endpoint is no instance of a pattern, and stays.
            case fixed
            case found(isConnected: Bool)
            /// Without a connection it is closed next.
            case leaving(isConnected: Bool)
            case closed
        }

        let endpoint: String
        var state: State

        mutating func isConnected(_ isConnected: Bool) {
            switch state {
            case .found: state = .found(isConnected: isConnected)
            case .leaving: state = .leaving(isConnected: isConnected)
            case .fixed, .closed: break
            }
        }
    }

    private var slots: [Slot]
    private var changes: [Change] = []
    /// Whether a leaving instance may have lost its connection.
    private var mayClose = false

    /// - Parameter instances: The instances of the patterns. All these endpoints are connected already.
    init(fixed: [String], instances: [String]) {
        slots =
            fixed.map { Slot(endpoint: $0, state: .fixed) }
            + instances.map { Slot(endpoint: $0, state: .found(isConnected: false)) }
    }

    func endpoint(_ number: Int) -> String { slots[number].endpoint }

    var hasChanges: Bool { mayClose || !changes.isEmpty }

    /// What to do, in this order.
    mutating func takeChanges() -> [Change] {
        if mayClose {
            for number in slots.indices where slots[number].state == .leaving(isConnected: false) {
                slots[number].state = .closed
                changes.append(.close(number))
            }
        }
        mayClose = false
        defer { changes = [] }
        return changes
    }

    // MARK: Events

    /// A scan of the endpoint patterns has found these instances. They replace those of the previous scan.
    mutating func found(_ instances: [String]) {
        let found = Set(instances)
        for number in slots.indices {
            switch (slots[number].state, found.contains(slots[number].endpoint)) {
            case (.leaving(let isConnected), true):
                slots[number].state = .found(isConnected: isConnected)
                changes.append(.back(number))
            case (.found(let isConnected), false):
                slots[number].state = .leaving(isConnected: isConnected)
                changes.append(.leaving(number))
                mayClose = true
            default: break
            }
        }
        let open = Set(slots.lazy.filter { $0.state != .closed }.map(\.endpoint))
        for endpoint in instances where !open.contains(endpoint) {
            let slot = Slot(endpoint: endpoint, state: .found(isConnected: false))
            let number = slots.firstIndex { $0.state == .closed } ?? slots.endIndex
            if number == slots.endIndex { slots.append(slot) } else { slots[number] = slot }
            changes.append(.open(number, endpoint: endpoint))
        }
    }

    mutating func connected(_ number: Int) {
        slots[number].isConnected(true)
    }

    mutating func disconnected(_ number: Int) {
        slots[number].isConnected(false)
        mayClose = mayClose || slots[number].state == .leaving(isConnected: false)
    }

    /// The endpoint could not be opened. ``found(_:)`` tries it again.
    mutating func failed(_ number: Int) {
        slots[number].state = .closed
    }
}
