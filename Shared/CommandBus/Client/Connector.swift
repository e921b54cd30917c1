import CZeroMQ
import Logging
import Time

/// One socket of a client or a subscriber with its monitor, and the endpoint that it connects to. It resolves a host name, again
/// when the connection is lost; ZeroMQ gets addresses only. It knows the key that the service must have.
///
/// The bus thread owns it once its owner is attached. The thread that resolves a name only passes it along in the work queue.
final class Connector: @unchecked Sendable {
    let socket: ZeroMQSocket
    let monitor: SocketMonitor
    private let endpoint: Endpoint
    private let security: BusSecurity
    private let workQueue: BusWorkQueue
    private let logger: Logger
    /// The address that ZeroMQ connects to.
    private var address: String?
    /// The address of the last attempt.
    private var lastAddress: String?
    /// When to connect, or to resolve the name again.
    private var nextAttempt: MonotonicMilliseconds?
    private var isLookingUp = false
    private var hasLookupFailed = false
    private var isConnected = false
    private var isClosed = false
    /// The keys of which the service has one; the first is in use.
    private var keys: [BusKey] = []
    private var nextLookAtKeys: MonotonicMilliseconds = 0
    private var knownRevocations = 0

    /// Why there is no connection, if that is known. It is logged already.
    private(set) var problem: ConnectionProblem?

    /// The wait after a lost connection before the next attempt. After that ZeroMQ retries by itself.
    private static let reconnectDelay: Milliseconds = 50
    /// The wait after a lookup without a connection before the next lookup.
    private static let lookupInterval: Milliseconds = 2_000
    /// The wait after a refused connection, and between looks at the list of peers.
    private static let keyInterval: Milliseconds = 1_000

    /// Makes the socket and connects it. If the endpoint has a name or needs a key, the first ``tick(now:)`` does that instead.
    ///
    /// - Parameter configure: Sets the socket's options.
    init(
        _ type: Int32, to endpoint: Endpoint, context: ZeroMQContext, security: BusSecurity, workQueue: BusWorkQueue,
        logger: Logger, configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        try security.check(endpoint)
        let socket = try context.makeSocket(type)
        do {
            try configure(socket)
            if endpoint.mayBeVersion6 { try socket.set(ZMQ_IPV6, Int32(1)) }
            monitor = try SocketMonitor(of: socket, context: context)
        } catch {
            socket.close()
            throw error
        }
        self.endpoint = endpoint
        self.socket = socket
        self.security = security
        self.logger = logger
        self.workQueue = workQueue
        guard name == nil, keyRing == nil else {
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

    private var keyRing: KeyRing? {
        if case .tcp = endpoint { security.keyRing } else { nil }
    }

    // MARK: Events

    /// The connection was made.
    func connected() {
        isConnected = true
        nextAttempt = nil
        problem = nil
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

    /// The handshake of a connection has failed. The next attempt is with the service's next key, if it has several.
    func refused(_ refusal: SocketMonitor.Refusal, now: MonotonicMilliseconds) {
        guard !isWaiting, !isConnected else { return }
        switch (refusal, keyRing) {
        case (.unknown, nil):
            // Such as a service that ends. ZeroMQ tries again.
            return
        case (.unknown, _):
            report(
                "the connection ended before it was encrypted: the service does not answer, has too many connections, has another key "
                    + "than in the list of peers, or does not encrypt")
        case (.unknownKey, _):
            report("the service does not have this machine's key in its list of peers")
        case (.protocolError, nil):
            report("the service speaks another protocol, or encrypts, and this process has no keys for the bus")
        case (.protocolError, _):
            report("the service does not encrypt, or has another key than in the list of peers")
        }
        if keys.count > 1 { keys.append(keys.removeFirst()) }
        disconnect()
        nextAttempt = now + Self.keyInterval
    }

    /// Whether the service's key was taken from the list of peers since it was set. ZeroMQ would connect with it again.
    var hasLostTrust: Bool {
        guard !isWaiting, let keyRing, keyRing.revocations != knownRevocations, let key = keys.first else { return false }
        return !keyRing.keys(of: endpoint).contains(key)
    }

    var nextTick: MonotonicMilliseconds? {
        keyRing != nil ? min(nextAttempt ?? .max, nextLookAtKeys) : nextAttempt
    }

    func tick(now: MonotonicMilliseconds) {
        if nextLookAtKeys <= now { nextLookAtKeys = now + Self.keyInterval }
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
        case .failure(let problem):
            hasLookupFailed = true
            report(problem.description)
            // ZeroMQ must not retry an address that the name no longer has.
            disconnect()
        case .success(let found):
            if hasLookupFailed { problem = nil }
            hasLookupFailed = false
            let texts = found.map { "tcp://\($0):\(port)" }
            // If the last address was of no use, the next one is tried.
            let last = lastAddress.flatMap(texts.firstIndex)
            let text = texts[last.map { ($0 + 1) % texts.count } ?? 0]
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
        let onlyLoopback = if case .loopbackOnly = security { true } else { false }
        NameLookup.start(name, onlyLoopback: onlyLoopback) { outcome in
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
            try setKeys()
            try socket.connect(to: text)
            (address, lastAddress) = (text, text)
        } catch {
            report("\(error)")
            nextAttempt = now + Self.keyInterval
        }
    }

    /// Sets the key of the next connection.
    private func setKeys() throws(BusError) {
        guard let keyRing else { return }
        knownRevocations = keyRing.revocations
        let known = keyRing.keys(of: endpoint)
        // Their order says which one is next.
        if Set(known) != Set(keys) { keys = known }
        guard let key = keys.first else {
            throw BusError(.invalidEndpoint, "\(endpoint.text): the list of peers has no key with the name of this host")
        }
        try socket.setKeys(ofClient: keyRing.own, server: key)
    }

    private func report(_ text: String) {
        let found = ConnectionProblem(description: text)
        guard found != problem else { return }
        problem = found
        logger.error("no connection to a service", metadata: ["endpoint": "\(endpoint.text)", "error": "\(found)"])
    }
}

extension Endpoint {
    /// Whether it is an IPv6 address, or a name that may have one.
    fileprivate var mayBeVersion6: Bool {
        switch self {
        case .ipc: false
        case .tcp(.name, _): true
        case .tcp(.address(let address), _): address.hasPrefix("[")
        }
    }
}
