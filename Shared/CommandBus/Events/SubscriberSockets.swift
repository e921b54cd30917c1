import CZeroMQ
import FoundationEssentials
import Logging

/// A subscriber's connections: one SUB and its monitor for each endpoint.
///
/// Owned by the bus thread once it is attached.
final class SubscriberSockets: BusParticipant, @unchecked Sendable {
    private let endpoints: [String]
    private let names: Set<String>
    private let subscribers: [ZeroMQSocket]
    private let monitors: [SocketMonitor]
    private let mailbox: EventMailbox
    private let logger: Logger

    /// How many events are taken from one socket before the others get their turn.
    private static let eventsPerTurn = 512

    init(
        context: ZeroMQContext, endpoints: [String], names: [String], limits: EventLimits, mailbox: EventMailbox,
        logger: Logger
    ) throws(BusError) {
        var subscribers: [ZeroMQSocket] = []
        var monitors: [SocketMonitor] = []
        do {
            for endpoint in endpoints {
                let address = try Endpoint(endpoint)
                let subscriber = try context.makeSocket(ZMQ_SUB)
                subscribers.append(subscriber)
                try subscriber.set(ZMQ_RCVHWM, Int32(clamping: max(limits.maxPending, 1)))
                try subscriber.set(ZMQ_MAXMSGSIZE, Int64(limits.maxPayloadBytes) * 16)
                try subscriber.set(ZMQ_LINGER, Int32(0))
                try subscriber.setLiveness(silence: limits.silence)
                for name in names.isEmpty ? [""] : names { try subscriber.set(ZMQ_SUBSCRIBE, name) }
                monitors.append(try SocketMonitor(of: subscriber, context: context))
                try subscriber.connect(to: address.text)
            }
        } catch {
            monitors.forEach { $0.close() }
            subscribers.forEach { $0.close() }
            throw error
        }
        self.endpoints = endpoints
        self.names = Set(names)
        self.subscribers = subscribers
        self.monitors = monitors
        self.mailbox = mailbox
        self.logger = logger
    }

    var sockets: [ZeroMQSocket] { subscribers + monitors.map(\.socket) }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        if index < subscribers.count {
            receiveEvents(from: index, atMost: Self.eventsPerTurn) > 0
        } else {
            receiveMonitorEvents(index - subscribers.count)
        }
    }

    private func receiveMonitorEvents(_ index: Int) -> Bool {
        var hasReceived = false
        while let event = monitors[index].next() {
            hasReceived = true
            switch event {
            case .connected: mailbox.put(.connected(endpoint: endpoints[index]))
            case .disconnected:
                _ = receiveEvents(from: index, atMost: .max)
                mailbox.put(.disconnected(endpoint: endpoints[index]))
            }
        }
        return hasReceived
    }

    /// - Returns: How many came.
    private func receiveEvents(from index: Int, atMost most: Int) -> Int {
        for count in 0..<most {
            guard let frames = receiveFrames(from: subscribers[index]) else { return count }
            guard frames.count == 2, let name = String(validating: frames[0], as: UTF8.self),
                (try? JSONDecoder().decode(AnyJSON.self, from: frames[1])) != nil
            else {
                logger.debug("a malformed event", metadata: ["endpoint": "\(endpoints[index])"])
                continue
            }
            // ZeroMQ matches the beginnings of names.
            guard names.isEmpty || names.contains(name) else { continue }
            mailbox.put(.event(name: name, payload: frames[1], endpoint: endpoints[index]))
        }
        return most
    }

    /// The frames of a message; of one that has too many, the first three.
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

    func close() {
        monitors.forEach { $0.close() }
        subscribers.forEach { $0.close() }
        mailbox.finish()
    }
}

/// Any JSON at all.
private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {}
}
