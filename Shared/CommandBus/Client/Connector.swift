import CZeroMQ
import Logging

/// One socket of a client or a subscriber with its monitor, and where it is connected or will be: a name is looked up here, and
/// followed when it changes. ZeroMQ gets addresses only.
/// Belongs to the bus thread once its owner is attached; the thread that looks a name up only passes it along in the outbox.
final class Connector: @unchecked Sendable {
    let socket: ZeroMQSocket
    let monitor: SocketMonitor
    private let endpoint: Endpoint
    private let outbox: Outbox
    private let logger: Logger
    /// What ZeroMQ was told to connect to.
    private var address: String?
    /// When to connect, or to look the name up again.
    private var nextAttempt: MonotonicMilliseconds?
    private var isLookingUp = false
    private var isConnected = false
    private var isClosed = false

    /// Why the name leads nowhere, where it does not.
    private(set) var failure: NameLookup.Failure?

    /// How long after a lost connection the next one is tried; from then on ZeroMQ tries by itself.
    private static let reconnectDelay: Milliseconds = 50
    /// How long after a lookup that led to no connection the next one follows.
    private static let lookupInterval: Milliseconds = 2_000

    /// Makes the socket and connects it, unless the endpoint has a name: that is looked up at the first ``tick(now:)``.
    ///
    /// - Parameter configure: Sets the socket's options.
    init(
        _ type: Int32, to endpoint: Endpoint, bus: Bus, logger: Logger,
        configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        let socket = try bus.context.makeSocket(type)
        do {
            try configure(socket)
            if case .tcp(.address(let host), _) = endpoint, host.hasPrefix("[") { try socket.set(ZMQ_IPV6, Int32(1)) }
            monitor = try SocketMonitor(of: socket, context: bus.context)
        } catch {
            socket.close()
            throw error
        }
        self.endpoint = endpoint
        self.socket = socket
        self.logger = logger
        outbox = bus.outbox
        guard name == nil else {
            nextAttempt = 0
            return
        }
        do {
            try socket.connect(to: endpoint.text)
            address = endpoint.text
        } catch {
            close()
            throw error
        }
    }

    /// Whether the socket is to be connected later: what its monitor still tells is about a connection that was given up.
    var isWaiting: Bool { address == nil }

    private var name: String? {
        if case .tcp(.name(let name), _) = endpoint { name } else { nil }
    }

    // MARK: Events

    /// The connection is there.
    func connected() {
        isConnected = true
        nextAttempt = nil
    }

    /// The connection is gone, and ZeroMQ tries again by itself; the name may lead elsewhere by now.
    func disconnected(now: MonotonicMilliseconds) {
        isConnected = false
        if name != nil { nextAttempt = now + Self.lookupInterval }
    }

    /// Gives the connection up, with all that it has neither sent nor handed over. A new one is made a moment later.
    func giveUp(now: MonotonicMilliseconds) {
        isConnected = false
        disconnect()
        nextAttempt = now + Self.reconnectDelay
    }

    var nextTick: MonotonicMilliseconds? { nextAttempt }

    func tick(now: MonotonicMilliseconds) {
        guard let due = nextAttempt, due <= now else { return }
        nextAttempt = nil
        if let name { lookUp(name) } else { connect(to: endpoint.text, now: now) }
    }

    /// The name was looked up.
    func lookedUp(_ outcome: NameLookup.Outcome, now: MonotonicMilliseconds) {
        isLookingUp = false
        // A connection that came about meanwhile stays.
        guard !isClosed, !isConnected, case .tcp(_, let port) = endpoint else { return }
        // Until the connection is there.
        nextAttempt = now + Self.lookupInterval
        switch outcome {
        case .failure(let failure):
            if failure != self.failure {
                logger.error("an endpoint has no address", metadata: ["endpoint": "\(endpoint.text)", "error": "\(failure)"])
            }
            self.failure = failure
            // ZeroMQ is not to try an address that the name has no more.
            disconnect()
        case .success(let found):
            failure = nil
            let text = "tcp://\(found):\(port)"
            guard text != address else { return }
            disconnect()
            connect(to: text, now: now)
        }
    }

    func close() {
        isClosed = true
        monitor.close()
        socket.close()
    }

    // MARK: Steps

    private func lookUp(_ name: String) {
        guard !isLookingUp else { return }
        isLookingUp = true
        NameLookup.start(name) { outcome in
            // A bus that is closed does not need the address any more.
            _ = self.outbox.submit(.lookedUp(self, outcome))
        }
    }

    private func disconnect() {
        if let address { socket.disconnect(from: address) }
        address = nil
    }

    private func connect(to text: String, now: MonotonicMilliseconds) {
        // What the monitor has to tell is about the connection that was given up.
        while monitor.next() != nil {}
        do {
            try socket.connect(to: text)
            address = text
        } catch {
            logger.error("cannot connect again", metadata: ["error": "\(error)"])
            nextAttempt = now + 1_000
        }
    }
}

extension Connector {
    /// Makes one for each endpoint, or none.
    static func all(
        _ type: Int32, to endpoints: [String], bus: Bus, logger: Logger,
        configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) -> [Connector] {
        var connectors: [Connector] = []
        do {
            for endpoint in endpoints {
                connectors.append(
                    try Connector(type, to: try Endpoint(endpoint), bus: bus, logger: logger, configure: configure))
            }
        } catch {
            connectors.forEach { $0.close() }
            throw error
        }
        return connectors
    }
}
