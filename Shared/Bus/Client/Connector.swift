import CZeroMQ
import Logging
import Base

/// One socket of a client or a subscriber with its monitor, and the endpoint that it connects to. It resolves a host name, again
/// when the connection is lost; ZeroMQ gets addresses only. It knows the key that the service must have.
///
/// The bus thread owns it once its owner is attached. The thread that resolves a name only passes it along in the work queue.
final class Connector: @unchecked Sendable {
    private enum State {
        /// It has no address. At the given time it connects, or resolves the name.
        case waiting(until: MonotonicMilliseconds)
        /// The name is being resolved. ZeroMQ may have an address of it already.
        case resolving(replacing: String?)
        /// ZeroMQ connects to the address, again and again. At the given time the name is resolved again.
        case connecting(to: String, until: MonotonicMilliseconds)
        case connected(to: String)
        case closed
    }

    let socket: ZeroMQSocket
    let monitor: SocketMonitor
    private let endpoint: Endpoint
    private let security: BusSecurity
    private let workQueue: BusWorkQueue
    private let logger: Logger
    private var state = State.waiting(until: 0)
    /// The address of the last attempt.
    private var lastAddress: String?
    /// `nil` without keys.
    private var keys: ServiceKeys?

    /// Why there is no connection, if that is known. It has already been logged.
    private(set) var problem: ConnectionProblem?

    /// The wait after a lost connection before the next attempt. After that ZeroMQ retries by itself.
    private static let reconnectDelay: Milliseconds = 50
    /// The wait after a lookup without a connection before the next lookup.
    private static let lookupInterval: Milliseconds = 2_000
    /// The wait after a refused connection.
    private static let refusalDelay: Milliseconds = 1_000

    /// Makes the socket. The first ``tick(now:)`` connects it.
    ///
    /// - Parameter configure: Sets the socket's options.
    init(
        _ type: Int32, to endpoint: Endpoint, context: ZeroMQContext, security: BusSecurity, workQueue: BusWorkQueue,
        logger: Logger, configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        try security.check(endpoint)
        if case .tcp(_, 0) = endpoint { throw BusError(.invalidEndpoint, "\(endpoint.text): expected the port of a service") }
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
        if case .tcp = endpoint, let keyRing = security.keyRing { keys = ServiceKeys(of: endpoint, in: keyRing) }
    }

    /// Whether the socket has no address. Events of its monitor then belong to an abandoned connection.
    var isWaiting: Bool { address == nil }

    /// Whether messages flow.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// The address that ZeroMQ connects to.
    private var address: String? {
        switch state {
        case .waiting, .closed: nil
        case .resolving(let address): address
        case .connecting(let address, _), .connected(let address): address
        }
    }

    private var name: String? {
        if case .tcp(.name(let name), _) = endpoint { name } else { nil }
    }

    // MARK: Events

    /// The connection was made.
    func connected() {
        guard let address else { return }
        state = .connected(to: address)
        problem = nil
    }

    /// The connection was lost. ZeroMQ reconnects by itself, but the name may have another address by now.
    func disconnected(now: MonotonicMilliseconds) {
        if case .connected(let address) = state { isConnecting(to: address, now: now) }
    }

    /// Drops the connection with all messages that are not sent or not received yet. A new one is made a moment later.
    func giveUp(now: MonotonicMilliseconds) {
        disconnect(until: now + Self.reconnectDelay)
    }

    /// The handshake of a connection has failed. The next attempt is with the service's next key, if it has several.
    func refused(_ refusal: SocketMonitor.Refusal, now: MonotonicMilliseconds) {
        if case .connected = state { return }
        guard !isWaiting else { return }
        switch (refusal, keys) {
        case (.unknown, nil):
            // The service may have ended. ZeroMQ tries again.
            return
        case (.unknown, _):
            report(
                "the connection ended before it was encrypted: the service does not answer, has another key than in the list of "
                    + "peers, or does not encrypt")
        case (.unknownKey, _):
            report("the service does not have this machine's key in its list of peers")
        case (.protocolError, nil):
            report("the service speaks another protocol, or encrypts, and this process has no keys for the bus")
        case (.protocolError, _):
            report("the service does not encrypt, or has another key than in the list of peers")
        }
        keys?.useNext()
        disconnect(until: now + Self.refusalDelay)
    }

    /// Whether the service's key was taken from the list of peers since it was set. ZeroMQ would connect with it again.
    var hasLostTrust: Bool { !isWaiting && keys?.isRevoked ?? false }

    var nextTick: MonotonicMilliseconds { min(nextAttempt, keys?.nextLook ?? .max) }

    private var nextAttempt: MonotonicMilliseconds {
        switch state {
        case .waiting(let moment), .connecting(_, let moment): moment
        case .resolving, .connected, .closed: .max
        }
    }

    func tick(now: MonotonicMilliseconds) {
        keys?.tick(now: now)
        guard nextAttempt <= now else { return }
        if let name { lookUp(name) } else { connect(to: endpoint.text, now: now) }
    }

    /// The lookup has finished.
    func lookedUp(_ outcome: NameLookup.Outcome, now: MonotonicMilliseconds) {
        // A connection that was made in the meantime stays.
        guard case .resolving(let address) = state, case .tcp(_, let port) = endpoint else { return }
        switch outcome {
        case .failure(let problem):
            report(problem)
            // ZeroMQ must not retry an address that the name no longer has.
            disconnect(until: now + Self.lookupInterval)
        case .success(let found):
            if case .lookup = problem { problem = nil }
            let texts = found.map { "tcp://\($0):\(port)" }
            // If the last address was of no use, the next one is tried.
            let last = lastAddress.flatMap(texts.firstIndex)
            let text = texts[last.map { ($0 + 1) % texts.count } ?? 0]
            guard text != address else { return isConnecting(to: text, now: now) }
            disconnect(until: now)
            connect(to: text, now: now)
        }
    }

    /// Closes the socket. Has no effect on a closed one.
    func close() {
        if case .closed = state { return }
        state = .closed
        monitor.close()
        socket.close()
    }

    // MARK: Steps

    private func lookUp(_ name: String) {
        state = .resolving(replacing: address)
        let onlyLoopback = if case .loopbackOnly = security { true } else { false }
        NameLookup.start(name, onlyLoopback: onlyLoopback) { outcome in
            // A closed bus does not need the address.
            _ = self.workQueue.submit(.lookedUp(self, outcome))
        }
    }

    private func disconnect(until moment: MonotonicMilliseconds) {
        if case .closed = state { return }
        if let address { socket.disconnect(from: address) }
        state = .waiting(until: moment)
    }

    private func connect(to text: String, now: MonotonicMilliseconds) {
        // The monitor's remaining events are about the abandoned connection.
        while monitor.next() != nil {}
        do {
            try keys?.set(on: socket)
            try socket.connect(to: text)
            lastAddress = text
            isConnecting(to: text, now: now)
        } catch {
            report("\(error)")
            state = .waiting(until: now + Self.refusalDelay)
        }
    }

    private func isConnecting(to address: String, now: MonotonicMilliseconds) {
        state = .connecting(to: address, until: name == nil ? .max : now + Self.lookupInterval)
    }

    private func report(_ text: String) {
        report(.connection(text))
    }

    private func report(_ found: ConnectionProblem) {
        guard found != problem else { return }
        problem = found
        logger.error("no connection to a service", metadata: ["endpoint": "\(endpoint.text)", "error": "\(found)"])
    }
}

/// Why there is no connection to a service, in words for the operator.
enum ConnectionProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its name has no address that may be used.
    case lookup(String)
    case connection(String)

    var description: String {
        switch self {
        case .lookup(let text), .connection(let text): text
        }
    }
}

/// The keys of which a service has one, by the list of peers.
private struct ServiceKeys {
    private let endpoint: Endpoint
    private let ring: KeyRing
    /// The first is in use.
    private var keys: [BusKey] = []
    private var knownRevocations = 0
    /// When to ask again whether the key ``isRevoked``.
    private(set) var nextLook: MonotonicMilliseconds = 0

    private static let lookInterval: Milliseconds = 1_000

    init(of endpoint: Endpoint, in ring: KeyRing) {
        self.endpoint = endpoint
        self.ring = ring
    }

    /// Sets the key of the next connection.
    mutating func set(on socket: ZeroMQSocket) throws(BusError) {
        knownRevocations = ring.revocations
        let known = ring.keys(of: endpoint)
        // Their order says which one is next.
        if Set(known) != Set(keys) { keys = known }
        guard let key = keys.first else {
            throw BusError(.invalidEndpoint, "\(endpoint.text): the list of peers has no key with the name of this host")
        }
        try socket.setKeys(ofClient: ring.own, server: key)
    }

    mutating func useNext() {
        if keys.count > 1 { keys.append(keys.removeFirst()) }
    }

    /// Whether the key in use was taken from the list since it was set.
    var isRevoked: Bool {
        guard ring.revocations != knownRevocations, let key = keys.first else { return false }
        return !ring.keys(of: endpoint).contains(key)
    }

    mutating func tick(now: MonotonicMilliseconds) {
        if nextLook <= now { nextLook = now + Self.lookInterval }
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
