import CZeroMQ
import FoundationEssentials
import Base
import Logging

/// A subscriber's connections: one SUB for each endpoint and each instance of a pattern.
///
/// The bus thread owns it once it is attached.
final class SubscriberSockets: BusParticipant, @unchecked Sendable {
    private let names: Set<String>
    private var connections: Connections
    private let mailbox: EventMailbox
    private let logger: Logger

    /// The maximum number of events received from one socket before the others get their turn.
    private static let eventsPerTurn = 512

    init(
        bus: Bus, endpoints: ClientEndpoints, instances: [String], names: [String], limits: EventLimits, mailbox: EventMailbox,
        logger: Logger
    ) throws(BusError) {
        let (context, security, workQueue) = (bus.context, bus.security, bus.workQueue)
        connections = try Connections(to: endpoints, instances: instances, logger: logger) { endpoint throws(BusError) in
            try Connector(
                ZMQ_SUB, to: Endpoint(endpoint), context: context, security: security, workQueue: workQueue, logger: logger
            ) { subscriber throws(BusError) in
                try subscriber.set(ZMQ_RCVHWM, Int32(clamping: max(limits.maxPending, 1)))
                try subscriber.set(ZMQ_MAXMSGSIZE, Int64(limits.maxPayloadBytes) * 16)
                try subscriber.set(ZMQ_LINGER, Int32(0))
                try subscriber.setLiveness(ofClient: limits.silence)
                for name in names.isEmpty ? [""] : names { try subscriber.set(ZMQ_SUBSCRIBE, name) }
            }
        }
        self.names = Set(names)
        self.mailbox = mailbox
        self.logger = logger
    }

    var sockets: [ZeroMQSocket] { connections.sockets }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        let count = connections.connectors.count
        return index < count
            ? receiveEvents(from: index, atMost: Self.eventsPerTurn) > 0 : receiveMonitorEvents(index - count, now: now)
    }

    private func receiveMonitorEvents(_ index: Int, now: MonotonicMilliseconds) -> Bool {
        var hasReceived = false
        while let event = connections.connectors[index].monitor.next() {
            hasReceived = true
            switch event {
            case .connected:
                // An event of an abandoned connection.
                guard !connections.connectors[index].isWaiting else { continue }
                connections.connected(index)
                mailbox.put(.connected(endpoint: connections.endpoint(index)))
            case .disconnected:
                // The handshake with a service that hangs ends every few seconds. It was no connection yet, so nothing is lost.
                let wasConnected = connections.connectors[index].isConnected
                connections.disconnected(index).disconnected(now: now)
                _ = receiveEvents(from: index, atMost: .max)
                if wasConnected { mailbox.put(.disconnected(endpoint: connections.endpoint(index))) }
            case .refused(let refusal):
                connections.connectors[index].refused(refusal, now: now)
            }
        }
        return hasReceived
    }

    /// - Returns: How many were received.
    private func receiveEvents(from index: Int, atMost limit: Int) -> Int {
        for count in 0..<limit {
            guard let frames = receiveFrames(from: connections.connectors[index].socket) else { return count }
            guard frames.count == 2, let name = String(validating: frames[0], as: UTF8.self),
                JSONCoder.isValid(frames[1])
            else {
                logger.debug("a malformed event", metadata: ["endpoint": "\(connections.endpoint(index))"])
                continue
            }
            // ZeroMQ matches prefixes.
            guard names.isEmpty || names.contains(name) else { continue }
            mailbox.put(.event(name: name, payload: frames[1], endpoint: connections.endpoint(index)))
        }
        return limit
    }

    /// The frames of a message, at most the first three.
    private func receiveFrames(from subscriber: ZeroMQSocket) -> [Data]? {
        var frames: [Data] = []
        var more = true
        repeat {
            let isKept = frames.count < 3
            let frame = subscriber.receive { bytes, hasMore in
                more = hasMore
                return isKept ? Data(bytes) : Data()
            }
            guard let frame else { break }
            if isKept { frames.append(frame) }
        } while more
        return frames.isEmpty ? nil : frames
    }

    // MARK: Time

    var nextTick: MonotonicMilliseconds? { connections.nextTick }

    func tick(now: MonotonicMilliseconds) {
        for index in connections.tick(now: now) {
            let wasConnected = connections.connectors[index].isConnected
            connections.disconnected(index).giveUp(now: now)
            if wasConnected { mailbox.put(.disconnected(endpoint: connections.endpoint(index))) }
        }
    }

    func found(_ instances: [String]) {
        connections.found(instances)
    }

    func renewSockets(now: MonotonicMilliseconds) -> Bool {
        !connections.renew(now: now).isEmpty
    }

    func close() {
        connections.close()
        mailbox.finish()
    }
}
