import CZeroMQ
import DequeModule
import FoundationEssentials
import Base
import Logging
import Schemas

/// A server's ROUTER, and its accepted and unanswered requests.
///
/// The bus thread owns it once it is attached. The workers, which run on that thread, use it directly. Other tasks only pass it
/// along in the work queue.
final class ServerSocket: BusParticipant, @unchecked Sendable {
    private enum Phase {
        case serving
        /// Accepts no new requests. Requests that are unanswered at `until` fail.
        case stopping(until: MonotonicMilliseconds)
        /// All workers have ended.
        case drained
        case closed
    }

    private let bound: BoundSocket
    private let limits: ServerLimits
    private let executor: BusExecutor
    private let logger: Logger

    private var phase = Phase.serving
    /// Requests that wait for a worker.
    private var queue: Deque<AcceptedRequest> = []
    /// The number of accepted and unanswered requests.
    private var inFlight = 0
    private var workers: [ObjectIdentifier: Worker] = [:]
    /// The workers that wait: resumed when there is a request, or when no more will come, or to end.
    private var idle = IdleWorkers<UnsafeContinuation<Void, Never>>()
    /// Resumed when there is a request and no idle worker.
    private var workerStarter: UnsafeContinuation<Void, Never>?
    /// Replies to send with the next ``flush()``.
    private var outgoing: [(reply: Reply, envelope: ReplyEnvelope)] = []
    private var waitingForDrain: [CheckedContinuation<Void, Never>] = []
    private var receiver: RequestReceiver
    let refusals = RefusedRequests()
    /// A reusable buffer for headers.
    private var replyHeader = JSONBytes(capacity: 512)

    /// When the bus thread must read its clocks again, to detect a pause of the process.
    private var nextClockReading: MonotonicMilliseconds = 0
    /// The end of a period in which every request is refused, because it may have waited during a pause of the process.
    private var refusesUntil: MonotonicMilliseconds = 0

    /// How long after a pause ZeroMQ's own thread may still read requests that arrived before the end of the pause.
    private static let readTimeAfterPause: Milliseconds = 500
    /// The maximum number of requests received before others get their turn.
    private static let requestsPerTurn = 512
    /// The maximum number of idle workers that are kept after a burst.
    private static let maxIdleWorkers = 256

    init(bus: Bus, endpoint: String, limits: ServerLimits, logger: Logger) throws(BusError) {
        self.limits = limits
        self.logger = logger
        executor = bus.executor
        receiver = RequestReceiver(limits: limits)
        bound = try BoundSocket(
            ZMQ_ROUTER, at: endpoint, context: bus.context, security: bus.security, logger: logger
        ) { socket throws(BusError) in
            // Report replies that cannot be delivered, instead of dropping them silently.
            try socket.set(ZMQ_ROUTER_MANDATORY, Int32(1))
            // The limit for each peer. It is more than a client of ours ever has outstanding.
            try socket.set(ZMQ_SNDHWM, Int32(20_000))
            try socket.set(ZMQ_RCVHWM, Int32(20_000))
            try socket.set(ZMQ_MAXMSGSIZE, Int64(limits.maxPayloadBytes) * 16)
            // The last replies are sent within this time after closing.
            try socket.set(ZMQ_LINGER, Int32(2_000))
            try socket.setLiveness(ofService: limits.silence)
        }
    }

    var endpoint: String { bound.endpoint }

    // MARK: Requests

    var sockets: [ZeroMQSocket] { [bound.socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        for count in 0..<Self.requestsPerTurn {
            guard let message = receiver.next(from: bound.socket) else { return count > 0 }
            accept(message, now: now)
        }
        return true
    }

    private func accept(_ message: RequestMessage, now: MonotonicMilliseconds) {
        switch message.content {
        case .malformed(let header, let reason):
            logger.debug("a malformed request", metadata: ["reason": "\(reason)"])
            refuse(message.envelope, header: header, .malformed, CommandFailure(.invalid, reason))
        case .tooLarge(let header, let reason):
            logger.debug("a request that is too large", metadata: ["reason": "\(reason)"])
            refuse(message.envelope, header: header, .tooLarge, CommandFailure(.invalid, reason))
        case .request(let header, let payload):
            guard case .serving = phase else {
                refuse(
                    message.envelope, header: header, .stopping,
                    CommandFailure(.unavailable, "the service is stopping; not done"))
                return
            }
            guard refusesUntil <= now else {
                refuse(message.envelope, header: header, .paused, .afterPause)
                return
            }
            guard inFlight < limits.maxInFlight else {
                refuse(
                    message.envelope, header: header, .overloaded,
                    CommandFailure(.overloaded, "\(limits.maxInFlight) requests are under way; not done"))
                return
            }
            inFlight += 1
            let arrival = RequestArrival(moment: executor.lastReading, pauses: executor.watch.count)
            queue.append(AcceptedRequest(envelope: message.envelope, header: header, payload: payload, arrival: arrival))
        }
    }

    private func refuse(
        _ envelope: ReplyEnvelope, header: ReceivedHeader?, _ reason: RefusedRequests.Reason, _ failure: CommandFailure
    ) {
        refusals.count(reason)
        send(Reply(id: header?.id ?? "", failure: failure), to: envelope)
    }

    // MARK: Workers

    /// Waits until another worker is needed. For one task on the bus thread.
    ///
    /// - Returns: `nil` if no more requests will come.
    nonisolated(nonsending) func nextWorker() async -> Worker? {
        guard isUsable, isOpen else { return nil }
        await withUnsafeContinuation { workerStarter = $0 }
        guard isUsable, isOpen else { return nil }
        let worker = Worker()
        workers[ObjectIdentifier(worker)] = worker
        return worker
    }

    func wakeTask() -> Bool {
        guard !queue.isEmpty else { return false }
        if let worker = idle.take() {
            worker.resume()
            return true
        }
        guard let maker = workerStarter.take() else { return false }
        maker.resume()
        return true
    }

    /// Waits for a worker's next request.
    ///
    /// - Returns: `nil` if the worker must end.
    nonisolated(nonsending) func nextRequest(for worker: Worker) async -> AcceptedRequest? {
        guard isUsable else { return nil }
        if queue.isEmpty, isOpen, idle.count < Self.maxIdleWorkers {
            await withUnsafeContinuation { idle.add($0) }
            guard isUsable else { return nil }
        }
        worker.request = queue.popFirst()
        if worker.request == nil { workers[ObjectIdentifier(worker)] = nil }
        return worker.request
    }

    /// Takes a worker's reply. The next ``flush()`` sends it.
    func answer(_ worker: Worker, _ reply: Reply) {
        // There is no request once the drain has timed out or the server is closed.
        guard isUsable, let request = worker.request.take() else { return }
        inFlight -= 1
        outgoing.append((reply, request.envelope))
        finishDrainIfEmpty()
    }

    /// Whether this is the bus thread. It can end while a worker runs elsewhere. Then the worker must not use this object.
    private var isUsable: Bool { executor.isCurrent }

    private var isOpen: Bool {
        switch phase {
        case .serving, .stopping: true
        case .drained, .closed: false
        }
    }

    // MARK: Replies

    func flush() {
        for (reply, envelope) in outgoing { send(reply, to: envelope) }
        outgoing.removeAll(keepingCapacity: true)
    }

    private func send(_ reply: Reply, to envelope: ReplyEnvelope) {
        let socket = bound.socket
        var result = socket.send(envelope.peer, more: true)
        guard result == .sent else {
            logger.debug(
                "a reply is dropped",
                metadata: ["reason": result == .refused ? "its peer does not read" : "its peer is gone"])
            return
        }
        // After the first frame ZeroMQ takes or drops the message as a whole.
        for frame in envelope.prefix { result = socket.send(frame, more: true) }
        if envelope.hasDelimiter { result = socket.send(Data(), more: true) }
        replyHeader.removeAll()
        reply.header.append(to: &replyHeader)
        result = socket.send(replyHeader.bytes, more: true)
        result = socket.send(reply.payload)
        if result != .sent { logger.debug("a reply is dropped", metadata: ["reason": "its peer is gone"]) }
    }

    // MARK: The end

    func stopServing(now: MonotonicMilliseconds) {
        guard case .serving = phase else { return }
        // Requests that have arrived by now were sent before the stop.
        _ = receive(from: 0, now: now)
        phase = .stopping(until: now + Milliseconds(timeout: limits.drainTimeout))
        finishDrainIfEmpty()
    }

    func whenDrained(_ continuation: CheckedContinuation<Void, Never>) {
        switch phase {
        case .serving, .stopping: waitingForDrain.append(continuation)
        case .drained, .closed: continuation.resume()
        }
    }

    var nextTick: MonotonicMilliseconds? {
        if case .stopping(let until) = phase { min(until, nextClockReading) } else { nextClockReading }
    }

    func tick(now: MonotonicMilliseconds) {
        nextClockReading = now.next(PauseWatch.interval)
        bound.tick(now: now)
        // Without a request they end.
        for worker in idle.takeUnneeded(at: now) { worker.resume() }
        guard case .stopping(let until) = phase, until <= now else { return }
        logger.warning("the service stops with commands unanswered", metadata: ["commands": "\(inFlight)"])
        giveUpDrain()
    }

    func resume(after pause: Milliseconds, now: MonotonicMilliseconds) {
        logger.warning("the process did not run for a while", metadata: ["milliseconds": "\(pause.rawValue)"])
        refusesUntil = now + Self.readTimeAfterPause
    }

    private func finishDrainIfEmpty() {
        guard case .stopping = phase, inFlight == 0 else { return }
        becomeDrained()
    }

    private func giveUpDrain() {
        let unanswered = workers.values.compactMap { $0.request.take() } + queue
        for request in unanswered {
            // It is not counted as refused: its handler may have begun.
            let failure = CommandFailure(.unavailable, "the service is stopping, outcome unknown")
            send(Reply(id: request.header.id, failure: failure), to: request.envelope)
        }
        queue = []
        inFlight = 0
        becomeDrained()
    }

    private func becomeDrained() {
        phase = .drained
        waitingForDrain.forEach { $0.resume() }
        waitingForDrain = []
        idle.takeAll().forEach { $0.resume() }
        workerStarter.take()?.resume()
    }

    func close() {
        flush()
        giveUpDrain()
        // Receive the last requests before the socket closes.
        _ = receive(from: 0, now: .now())
        phase = .closed
        bound.close()
    }
}

/// A task that handles a server's requests, one after another.
///
/// Starting a task for each request would double the request's cost. The bus thread owns the worker.
final class Worker: @unchecked Sendable {
    /// The current request; `nil` once it is answered.
    var request: AcceptedRequest?
}
