import CZeroMQ
import CoreMetrics
import FoundationEssentials
import Instruments
import Base
import Logging
import Schemas
import Synchronization

/// A client's connections: one DEALER for each endpoint and each instance of a pattern, and the pool's state.
///
/// The bus thread owns it once it is attached. Tasks on that thread use it directly. Other tasks only pass it along
/// in the work queue.
final class ClientSockets: BusParticipant, @unchecked Sendable {
    /// The endpoints as in the settings, for failures.
    private let endpoints: [String]
    /// Stands for the endpoints in failures.
    private let name: String?
    private var connections: Connections
    /// The sockets of ``connections``.
    private var dealers: [ZeroMQSocket]
    private let ids: RequestIDFormat
    private let replies: ReplyReceiver
    private let logger: Logger
    private var pool: ClientPoolStateMachine<PendingRequest>
    /// Requests to send with the next ``flush()``, with their endpoints.
    private var outgoing: [(request: PendingRequest, endpoint: Int)] = []
    /// A reusable buffer for headers.
    private var header = JSONBytes(capacity: 512)

    /// How long a request of the bus thread's own tasks may take before its task is told: see ``CommandClient``.
    private static let slowAfter: Milliseconds = 10

    /// The maximum number of replies received from one socket before the others get their turn.
    private static let repliesPerTurn = 512

    init(
        bus: Bus, endpoints: ClientEndpoints, instances: [String], name: String?, limits: ClientLimits, ids: RequestIDFormat,
        logger: Logger
    ) throws(BusError) {
        self.endpoints = endpoints.texts
        self.name = name
        let (context, security, workQueue) = (bus.context, bus.security, bus.workQueue)
        connections = try Connections(to: endpoints, instances: instances, logger: logger) { endpoint throws(BusError) in
            try Connector(
                ZMQ_DEALER, to: Endpoint(endpoint), context: context, security: security, workQueue: workQueue, logger: logger
            ) { dealer throws(BusError) in
                try Self.configure(dealer, limits)
            }
        }
        dealers = connections.connectors.map(\.socket)
        self.ids = ids
        replies = ReplyReceiver(ids: ids)
        self.logger = logger
        pool = ClientPoolStateMachine(
            .init(
                endpoints: dealers.count, maxPending: limits.maxPending,
                connectGrace: Milliseconds(timeout: limits.connectGrace),
                probeInterval: max(Milliseconds(timeout: limits.probeInterval), 1)))
    }

    private static func configure(_ dealer: ZeroMQSocket, _ limits: ClientLimits) throws(BusError) {
        // Room for all requests in flight, and for as many abandoned ones.
        let messages = Int32(clamping: limits.maxPending.multipliedReportingOverflow(by: 2).partialValue)
        try dealer.set(ZMQ_SNDHWM, max(messages, 1_000))
        try dealer.set(ZMQ_RCVHWM, max(messages, 1_000))
        try dealer.set(ZMQ_MAXMSGSIZE, Int64(limits.maxReplyBytes))
        // Requests that are not sent yet have failed before the socket closes.
        try dealer.set(ZMQ_LINGER, Int32(0))
        try dealer.setLiveness(ofClient: limits.silence)
    }

    // MARK: Calls from tasks

    /// - Parameter waitsBriefly: Whether the task is told when the request takes longer than ``slowAfter``.
    func perform(_ request: PendingRequest, waitsBriefly: Bool = false, now: MonotonicMilliseconds) {
        if request.isCancelled.load(ordering: .acquiring) {
            return fail(request, .cancelled)
        }
        let slowAt = waitsBriefly ? now + Self.slowAfter : .max
        switch pool.request(request, id: request.id, deadline: request.deadline, slowAt: slowAt, now: now) {
        case .send(let endpoint): outgoing.append((request, endpoint))
        case .wait: break
        case .fail(let failure): fail(request, failure)
        }
    }

    func cancel(_ request: PendingRequest) {
        if let request = pool.cancelled(id: request.id) { fail(request, .cancelled) }
    }

    func flush() {
        for (request, endpoint) in outgoing { send(request, to: endpoint) }
        outgoing.removeAll(keepingCapacity: true)
    }

    /// - Parameter timeout: The remaining time of a request that has waited.
    private func send(_ request: PendingRequest, timeout: Milliseconds? = nil, to endpoint: Int) {
        if sendHeader(request.header, timeout: timeout, to: endpoint), dealers[endpoint].send(request.payload) == .sent {
            return
        }
        if let request = pool.sendRefused(id: request.id) { fail(request, .overloaded) }
    }

    private func sendHeader(_ request: RequestHeader, timeout: Milliseconds? = nil, to endpoint: Int) -> Bool {
        header.removeAll()
        request.append(to: &header, timeout: timeout)
        return dealers[endpoint].send(header.bytes, more: true) == .sent
    }

    // MARK: Events of the sockets

    var sockets: [ZeroMQSocket] { connections.sockets }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        if index < dealers.count {
            receiveReplies(from: index, atMost: Self.repliesPerTurn, now: now) > 0
        } else {
            receiveMonitorEvents(index - dealers.count, now: now)
        }
    }

    private func receiveMonitorEvents(_ endpoint: Int, now: MonotonicMilliseconds) -> Bool {
        var hasReceived = false
        while let event = connections.connectors[endpoint].monitor.next() {
            hasReceived = true
            switch event {
            case .connected: connected(endpoint, now: now)
            case .disconnected: disconnected(endpoint, now: now)
            case .refused(let refusal): connections.connectors[endpoint].refused(refusal, now: now)
            }
        }
        return hasReceived
    }

    private func connected(_ endpoint: Int, now: MonotonicMilliseconds) {
        guard !connections.connectors[endpoint].isWaiting else { return }
        // Waiting requests must not go to a service whose key was removed.
        guard !connections.connectors[endpoint].hasLostTrust else { return connections.connectors[endpoint].giveUp(now: now) }
        connections.connected(endpoint)
        Instrument.busConnections.counter(["change": "made"]).increment()
        logger.debug("connected", metadata: ["endpoint": "\(connections.endpoint(endpoint))"])
        for waiting in pool.connected(endpoint, now: now) {
            send(waiting.request, timeout: max(waiting.request.deadline - now, 0), to: waiting.endpoint)
        }
    }

    /// A connection was lost, or ended before ZeroMQ's handshake was complete.
    ///
    /// With `ZMQ_IMMEDIATE`, ZeroMQ would drop the requests that it has not sent yet, but also the replies that we have not read
    /// yet. So the replies are read first, and then the connection is dropped here.
    private func disconnected(_ endpoint: Int, now: MonotonicMilliseconds) {
        guard pool.isConnected(endpoint) else { return }
        Instrument.busConnections.counter(["change": "lost"]).increment()
        logger.debug("disconnected", metadata: ["endpoint": "\(connections.endpoint(endpoint))"])
        // Replies that arrived before the disconnect still count.
        _ = receiveReplies(from: endpoint, atMost: .max, now: now)
        for request in pool.disconnected(endpoint) {
            fail(request, .connectionLost(endpoint: endpoint))
        }
        connections.disconnected(endpoint).giveUp(now: now)
    }

    /// - Returns: How many were received.
    private func receiveReplies(from endpoint: Int, atMost limit: Int, now: MonotonicMilliseconds) -> Int {
        var answered: [(request: PendingRequest, outcome: RequestOutcome)] = []
        defer { wake(answered) }
        for count in 0..<limit {
            guard let reply = replies.next(from: dealers[endpoint]) else { return count }
            guard case .understood(let id, let status, let payload) = reply else {
                logger.debug("a reply is not understood", metadata: ["endpoint": "\(connections.endpoint(endpoint))"])
                _ = pool.reply(id: nil, from: endpoint)
                continue
            }
            if status == .unavailable || status == .overloaded { pool.rest(endpoint, now: now) }
            if let request = pool.reply(id: id, from: endpoint) {
                let outcome = RequestOutcome.replied(status, payload)
                if request.isLocal { request.complete(outcome) } else { answered.append((request, outcome)) }
            }
        }
        return limit
    }

    /// Resumes tasks on another thread, since resuming many of them takes longer than receiving their replies.
    private func wake(_ answered: [(request: PendingRequest, outcome: RequestOutcome)]) {
        if answered.count < 4 {
            for (request, outcome) in answered { request.complete(outcome) }
        } else {
            Task.detached {
                for (request, outcome) in answered { request.complete(outcome) }
            }
        }
    }

    // MARK: Time

    var nextTick: MonotonicMilliseconds? {
        let next = min(pool.nextTick ?? .max, connections.nextTick ?? .max)
        return next == .max ? nil : next
    }

    func tick(now: MonotonicMilliseconds) {
        let actions = pool.tick(now: now)
        for (request, failure) in actions.failed { fail(request, failure) }
        for request in actions.slow { request.notifySlow() }
        for endpoint in actions.probe { probe(endpoint) }
        for endpoint in connections.tick(now: now) {
            guard pool.isConnected(endpoint) else {
                connections.connectors[endpoint].giveUp(now: now)
                continue
            }
            disconnected(endpoint, now: now)
        }
    }

    // MARK: Instances

    func found(_ instances: [String]) {
        connections.found(instances)
    }

    func renewSockets(now: MonotonicMilliseconds) -> Bool {
        let changes = connections.renew(now: now)
        guard !changes.isEmpty else { return false }
        for change in changes {
            switch change {
            case .open(let endpoint, _): pool.added(endpoint)
            case .leaving(let endpoint): pool.setLeaving(endpoint, true)
            case .back(let endpoint): pool.setLeaving(endpoint, false)
            // It is not connected, so the pool does not use it.
            case .close: break
            }
        }
        dealers = connections.connectors.map(\.socket)
        return true
    }

    /// Sends a `bus.ping` to a suspect endpoint. The request has no entry in the pool: any reply is sufficient.
    private func probe(_ endpoint: Int) {
        logger.debug("probing a silent endpoint", metadata: ["endpoint": "\(connections.endpoint(endpoint))"])
        // If there is no room, the next probe follows soon.
        if sendHeader(RequestHeader(id: ids.text(0), command: Ping.name), to: endpoint) {
            _ = dealers[endpoint].send(Array("{}".utf8))
        }
    }

    // MARK: The end

    func close() {
        outgoing = []
        for request in pool.stop() { fail(request, .stopped) }
        connections.close()
    }

    private func fail(_ request: PendingRequest, _ failure: ClientPoolStateMachine<PendingRequest>.Failure) {
        let problem = failure == .notConnected ? connections.problem : nil
        request.complete(
            .failed(CommandFailure(failure, endpoints: endpoints, name: name, problem: problem, connections.endpoint)))
    }
}

/// Receives the replies to one client.
struct ReplyReceiver {
    enum Reply {
        /// The id is `nil` if this client did not issue it.
        case understood(id: UInt64?, ReplyStatus, Data)
        case malformed
    }

    let ids: RequestIDFormat

    /// The next reply, if there is one.
    func next(from dealer: ZeroMQSocket) -> Reply? {
        var more = true
        let header = dealer.receive { bytes, hasMore in
            more = hasMore
            return readHeader(bytes)
        }
        guard let header else { return nil }
        var payload: Data?
        var frames = 1
        while more {
            let frame = dealer.receive { bytes, hasMore in
                more = hasMore
                return frames == 1 ? Data(bytes) : Data()
            }
            guard let frame else { break }
            if frames == 1 { payload = frame }
            frames += 1
        }
        guard let header, let payload, frames == 2 else { return .malformed }
        return .understood(id: header.id, header.status, payload)
    }

    private func readHeader(_ bytes: UnsafeRawBufferPointer) -> (id: UInt64?, status: ReplyStatus)? {
        if let id = ids.number(ofSuccess: bytes) { return (id, .ok) }
        // The details of the error are of no use here.
        guard let header = try? JSONCoder.decode(ReplyHeader.self, from: bytes) else { return nil }
        return (ids.number(header.id), header.status)
    }
}
