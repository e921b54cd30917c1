import CZeroMQ
import FoundationEssentials
import JSON
import Logging

/// A subscriber's connections: one SUB for each endpoint.
///
/// The bus thread owns it once it is attached.
final class SubscriberSockets: BusParticipant, @unchecked Sendable {
    private let endpoints: [String]
    private let names: Set<String>
    private let connectors: [Connector]
    private let mailbox: EventMailbox
    private let logger: Logger

    /// The maximum number of events received from one socket before the others get their turn.
    private static let eventsPerTurn = 512

    init(
        bus: Bus, endpoints: [String], names: [String], limits: EventLimits, mailbox: EventMailbox, logger: Logger
    ) throws(BusError) {
        connectors = try Connector.all(ZMQ_SUB, to: endpoints, bus: bus, logger: logger) { subscriber throws(BusError) in
            try subscriber.set(ZMQ_RCVHWM, Int32(clamping: max(limits.maxPending, 1)))
            try subscriber.set(ZMQ_MAXMSGSIZE, Int64(limits.maxPayloadBytes) * 16)
            try subscriber.set(ZMQ_LINGER, Int32(0))
            try subscriber.setLiveness(silence: limits.silence)
            for name in names.isEmpty ? [""] : names { try subscriber.set(ZMQ_SUBSCRIBE, name) }
        }
        self.endpoints = endpoints
        self.names = Set(names)
        self.mailbox = mailbox
        self.logger = logger
    }

    var sockets: [ZeroMQSocket] { connectors.map(\.socket) + connectors.map(\.monitor.socket) }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        if index < connectors.count {
            receiveEvents(from: index, atMost: Self.eventsPerTurn) > 0
        } else {
            receiveMonitorEvents(index - connectors.count, now: now)
        }
    }

    private func receiveMonitorEvents(_ index: Int, now: MonotonicMilliseconds) -> Bool {
        var hasReceived = false
        while let event = connectors[index].monitor.next() {
            hasReceived = true
            switch event {
            case .connected:
                connectors[index].connected()
                mailbox.put(.connected(endpoint: endpoints[index]))
            case .disconnected:
                connectors[index].disconnected(now: now)
                _ = receiveEvents(from: index, atMost: .max)
                mailbox.put(.disconnected(endpoint: endpoints[index]))
            }
        }
        return hasReceived
    }

    /// - Returns: How many were received.
    private func receiveEvents(from index: Int, atMost limit: Int) -> Int {
        for count in 0..<limit {
            guard let frames = receiveFrames(from: connectors[index].socket) else { return count }
            guard frames.count == 2, let name = String(validating: frames[0], as: UTF8.self),
                JSONCoder.isValid(frames[1])
            else {
                logger.debug("a malformed event", metadata: ["endpoint": "\(endpoints[index])"])
                continue
            }
            // ZeroMQ matches prefixes.
            guard names.isEmpty || names.contains(name) else { continue }
            mailbox.put(.event(name: name, payload: frames[1], endpoint: endpoints[index]))
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

    var nextTick: MonotonicMilliseconds? { connectors.lazy.compactMap(\.nextTick).min() }

    func tick(now: MonotonicMilliseconds) {
        for connector in connectors { connector.tick(now: now) }
    }

    func close() {
        connectors.forEach { $0.close() }
        mailbox.finish()
    }
}
