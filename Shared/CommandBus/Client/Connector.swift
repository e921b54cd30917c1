import CZeroMQ
import Logging
import Time

/// One socket of a client or a subscriber with its monitor, and the endpoint that it connects to. It resolves a host name, again
/// when the connection is lost; ZeroMQ gets addresses only.
///
/// The bus thread owns it once its owner is attached. The thread that resolves a name only passes it along in the work queue.
final class Connector: @unchecked Sendable {
    let socket: ZeroMQSocket
    let monitor: SocketMonitor
    private let endpoint: Endpoint
    private let workQueue: BusWorkQueue
    private let logger: Logger
    /// The address that ZeroMQ connects to.
    private var address: String?
    /// When to connect, or to resolve the name again.
    private var nextAttempt: MonotonicMilliseconds?
    private var isLookingUp = false
    private var isConnected = false
    private var isClosed = false

    /// Why the name has no usable address, if it has none.
    private(set) var failure: NameLookup.Failure?

    /// The wait after a lost connection before the next attempt. After that ZeroMQ retries by itself.
    private static let reconnectDelay: Milliseconds = 50
    /// The wait after a lookup without a connection before the next lookup.
    private static let lookupInterval: Milliseconds = 2_000

    /// Makes the socket and connects it. If the endpoint has a name, the first ``tick(now:)`` resolves it instead.
    ///
    /// - Parameter configure: Sets the socket's options.
    init(
        _ type: Int32, to endpoint: Endpoint, context: ZeroMQContext, workQueue: BusWorkQueue, logger: Logger,
        configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        let socket = try context.makeSocket(type)
        do {
            try configure(socket)
            if case .tcp(.address(let host), _) = endpoint, host.hasPrefix("[") { try socket.set(ZMQ_IPV6, Int32(1)) }
            monitor = try SocketMonitor(of: socket, context: context)
        } catch {
            socket.close()
            throw error
        }
        self.endpoint = endpoint
        self.socket = socket
        self.logger = logger
        self.workQueue = workQueue
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

    /// Whether the socket is not connected yet. Events of its monitor then belong to an abandoned connection.
    var isWaiting: Bool { address == nil }

    private var name: String? {
        if case .tcp(.name(let name), _) = endpoint { name } else { nil }
    }

    // MARK: Events

    /// The connection was made.
    func connected() {
        isConnected = true
        nextAttempt = nil
    }

    /// The connection was lost. ZeroMQ reconnects by itself, but the name may have another address by now.
    func disconnected(now: MonotonicMilliseconds) {
        isConnected = false
        if name != nil { nextAttempt = now + Self.lookupInterval }
    }

    /// Drops the connection with all messages that are not sent or not received yet. A new one is made a moment later.
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

    /// The lookup has finished.
    func lookedUp(_ outcome: NameLookup.Outcome, now: MonotonicMilliseconds) {
        isLookingUp = false
        // A connection that was made in the meantime stays.
        guard !isClosed, !isConnected, case .tcp(_, let port) = endpoint else { return }
        // Look up again until the connection is made.
        nextAttempt = now + Self.lookupInterval
        switch outcome {
        case .failure(let failure):
            if failure != self.failure {
                logger.error("an endpoint has no address", metadata: ["endpoint": "\(endpoint.text)", "error": "\(failure)"])
            }
            self.failure = failure
            // ZeroMQ must not retry an address that the name no longer has.
            disconnect()
        case .success(let found):
            failure = nil
            let text = "tcp://\(found):\(port)"
            guard text != address else { return }
            disconnect()
            connect(to: text, now: now)
        }
    }

    /// Closes the socket. Has no effect on a closed one.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        nextAttempt = nil
        monitor.close()
        socket.close()
    }

    // MARK: Steps

    private func lookUp(_ name: String) {
        guard !isLookingUp else { return }
        isLookingUp = true
        NameLookup.start(name) { outcome in
            // A closed bus does not need the address.
            _ = self.workQueue.submit(.lookedUp(self, outcome))
        }
    }

    private func disconnect() {
        if let address { socket.disconnect(from: address) }
        address = nil
    }

    private func connect(to text: String, now: MonotonicMilliseconds) {
        // The monitor's remaining events are about the abandoned connection.
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
