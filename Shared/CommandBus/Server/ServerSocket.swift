import CZeroMQ
import FoundationEssentials
import Logging
import Schemas

/// A server's ROUTER, and what it has accepted and not answered yet.
///
/// Owned by the bus thread once it is attached; tasks only pass it along in the outbox.
final class ServerSocket: BusParticipant, @unchecked Sendable {
    private enum Phase {
        case serving
        /// Takes nothing new; what is not answered by `until` will not be.
        case stopping(until: MonotonicMilliseconds)
        /// Nobody handles requests any more.
        case drained
        case closed
    }

    private let bound: BoundSocket
    private let limits: ServerLimits
    private let logger: Logger
    /// To the tasks that handle requests: what arrived together, as one element.
    private let accepted: AsyncStream<[AcceptedRequest]>.Continuation

    private var phase = Phase.serving
    private var inFlight: [UInt64: AcceptedRequest] = [:]
    private var lastTicket: UInt64 = 0
    private var waitingForDrain: [CheckedContinuation<Void, Never>] = []
    /// Where headers are read and written, one after another.
    private var header: [UInt8] = []

    /// How many requests are taken before others get their turn.
    private static let requestsPerTurn = 512

    init(
        context: ZeroMQContext, endpoint: String, limits: ServerLimits, logger: Logger,
        accepted: AsyncStream<[AcceptedRequest]>.Continuation
    ) throws(BusError) {
        self.limits = limits
        self.logger = logger
        self.accepted = accepted
        bound = try BoundSocket(ZMQ_ROUTER, at: endpoint, context: context) { socket throws(BusError) in
            // Tells of replies that cannot be delivered, instead of dropping them silently.
            try socket.set(ZMQ_ROUTER_MANDATORY, Int32(1))
            // For each peer: more than one of our clients ever has outstanding.
            try socket.set(ZMQ_SNDHWM, Int32(20_000))
            try socket.set(ZMQ_RCVHWM, Int32(20_000))
            try socket.set(ZMQ_BACKLOG, Int32(4_096))
            try socket.set(ZMQ_MAXMSGSIZE, Int64(limits.maxPayloadBytes) * 16)
            // The last replies leave within this time after closing.
            try socket.set(ZMQ_LINGER, Int32(2_000))
            try socket.setLiveness(silence: limits.silence)
        }
    }

    var endpoint: String { bound.endpoint }

    // MARK: Requests

    var sockets: [ZeroMQSocket] { [bound.socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) {
        var batch: [AcceptedRequest] = []
        for _ in 0..<Self.requestsPerTurn {
            guard let message = receiveMessage() else { break }
            if let request = accept(message) { batch.append(request) }
        }
        if !batch.isEmpty { accepted.yield(batch) }
    }

    private func accept(_ message: RequestMessage) -> AcceptedRequest? {
        switch message.content {
        case .malformed(let header, let reason):
            logger.debug("a malformed request", metadata: ["reason": "\(reason)"])
            refuse(message.envelope, header: header, CommandFailure(.invalid, reason))
            return nil
        case .request(let header, let payload):
            guard case .serving = phase else {
                refuse(message.envelope, header: header, CommandFailure(.unavailable, "the service is stopping; not done"))
                return nil
            }
            guard inFlight.count < limits.maxInFlight else {
                refuse(
                    message.envelope, header: header,
                    CommandFailure(.overloaded, "\(limits.maxInFlight) requests are under way; not done"))
                return nil
            }
            lastTicket += 1
            let request = AcceptedRequest(
                ticket: lastTicket, envelope: message.envelope, header: header, payload: payload)
            inFlight[lastTicket] = request
            return request
        }
    }

    private func refuse(_ envelope: ReplyEnvelope, header: ReceivedHeader?, _ failure: CommandFailure) {
        send(Reply(id: header?.id ?? "", failure: failure), to: envelope)
    }

    private func receiveMessage() -> RequestMessage? {
        var more = true
        let peer = bound.socket.receive { bytes, hasMore in
            more = hasMore
            return Data(bytes)
        }
        guard let peer else { return nil }
        var frames: [RequestMessage.Frame] = []
        if more, let first = receiveHeader(&more) {
            let second = more ? receiveFrame(&more) : nil
            if first <= limits.maxHeaderBytes, first > 0, !more, case .bytes(let payload) = second,
                payload.count <= limits.maxPayloadBytes
            {
                return RequestMessage(peer: peer, header: header, payload: payload)
            }
            frames.append(first <= limits.maxHeaderBytes ? .bytes(Data(header)) : .tooLong(first))
            if let second { frames.append(second) }
        }
        var count = frames.count
        while more, let frame = receiveFrame(&more) {
            if count < RequestMessage.mostFrames { frames.append(frame) }
            count += 1
        }
        return RequestMessage(peer: peer, frames: frames, count: count, limits: limits)
    }

    /// Receives a frame that should be a header into `header`, unless it is too long for one.
    ///
    /// - Returns: How many bytes the frame has.
    private func receiveHeader(_ more: inout Bool) -> Int? {
        header.removeAll(keepingCapacity: true)
        return bound.socket.receive { bytes, hasMore in
            more = hasMore
            if bytes.count <= limits.maxHeaderBytes { header.append(contentsOf: bytes) }
            return bytes.count
        }
    }

    private func receiveFrame(_ more: inout Bool) -> RequestMessage.Frame? {
        let longest = max(limits.maxHeaderBytes, limits.maxPayloadBytes)
        return bound.socket.receive { bytes, hasMore in
            more = hasMore
            return bytes.count <= longest ? .bytes(Data(bytes)) : RequestMessage.Frame.tooLong(bytes.count)
        }
    }

    // MARK: Replies

    func answer(_ request: AcceptedRequest) {
        // Nothing is there once the drain was given up, or the server closed.
        guard inFlight.removeValue(forKey: request.ticket) != nil, let reply = request.reply else { return }
        send(reply, to: request.envelope)
        finishDrainIfEmpty()
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
        // Once the first frame is taken, ZeroMQ takes or drops the message as a whole.
        for frame in envelope.prefix { result = socket.send(frame, more: true) }
        if envelope.hasDelimiter { result = socket.send(Data(), more: true) }
        header.removeAll(keepingCapacity: true)
        reply.header.append(to: &header)
        result = socket.send(header, more: true)
        result = socket.send(reply.payload)
        if result != .sent { logger.debug("a reply is dropped", metadata: ["reason": "its peer is gone"]) }
    }

    // MARK: The end

    func stopServing(now: MonotonicMilliseconds) {
        guard case .serving = phase else { return }
        // What has arrived by now was sent to a service that was not stopping.
        receive(from: 0, now: now)
        phase = .stopping(until: now + limits.drainTimeout.boundedMilliseconds)
        accepted.finish()
        finishDrainIfEmpty()
    }

    func stopHandling() {
        if case .closed = phase { return }
        accepted.finish()
        giveUpDrain()
    }

    func whenDrained(_ continuation: CheckedContinuation<Void, Never>) {
        switch phase {
        case .serving, .stopping: waitingForDrain.append(continuation)
        case .drained, .closed: continuation.resume()
        }
    }

    var nextTick: MonotonicMilliseconds? {
        if case .stopping(let until) = phase { until } else { nil }
    }

    func tick(now: MonotonicMilliseconds) {
        logger.warning("the service stops with commands unanswered", metadata: ["commands": "\(inFlight.count)"])
        giveUpDrain()
    }

    private func finishDrainIfEmpty() {
        guard case .stopping = phase, inFlight.isEmpty else { return }
        becomeDrained()
    }

    private func giveUpDrain() {
        for (_, request) in inFlight.sorted(by: { $0.key < $1.key }) {
            refuse(
                request.envelope, header: request.header,
                CommandFailure(.unavailable, "the service is stopping, outcome unknown"))
        }
        inFlight = [:]
        becomeDrained()
    }

    private func becomeDrained() {
        phase = .drained
        waitingForDrain.forEach { $0.resume() }
        waitingForDrain = []
    }

    func close() {
        stopHandling()
        // The last requests that came before the socket closes.
        receive(from: 0, now: .monotonicNow())
        phase = .closed
        bound.close()
    }
}
