import CZeroMQ
package import FoundationEssentials
import Base
package import Logging
import Schemas
import Synchronization

/// Publishes events to all subscribers. Events are not stored: a subscriber that is not connected, or too slow, misses them.
package final class EventPublisher: Sendable {
    private let bus: Bus
    private let socket: PublisherSocket
    private let limits: EventLimits
    private let logger: Logger
    private let dropped = Atomic<Int>(0)

    /// The publisher's endpoint, with the port that the system chose.
    package let endpoint: String

    /// Starts listening; `endpoint` as for ``CommandServer``.
    ///
    /// - Throws: ``BusError`` if the endpoint is invalid, another process serves it, or the system refuses.
    package init(bus: Bus, endpoint: String, limits: EventLimits = .init(), logger: Logger) throws(BusError) {
        socket = try PublisherSocket(bus: bus, endpoint: endpoint, limits: limits, logger: logger)
        self.bus = bus
        self.limits = limits
        self.logger = logger
        self.endpoint = socket.endpoint
        try bus.attach(socket)
    }

    deinit {
        bus.abandon(socket)
    }

    /// Sends an event to every subscriber; returns at once.
    ///
    /// - Parameters:
    ///   - name: The event's name, such as `cube.changed`.
    ///   - payload: JSON of at most ``EventLimits/maxPayloadBytes``.
    package func publish(_ name: String, _ payload: Data) {
        guard payload.count <= limits.maxPayloadBytes else { return drop(name, "its payload is too large") }
        guard socket.pending.wrappingAdd(1, ordering: .relaxed).newValue <= limits.maxPending else {
            socket.pending.subtract(1, ordering: .relaxed)
            return drop(name, "too many events are on their way")
        }
        // A closed bus has no subscribers.
        _ = bus.submit(.publish(socket, name: name, payload: payload))
    }

    /// Stops listening. Closing the bus does the same.
    package func close() async {
        await bus.detach(socket)
    }

    /// Logs the first of every thousand dropped events, to limit the number of lines.
    private func drop(_ name: String, _ reason: String) {
        guard dropped.wrappingAdd(1, ordering: .relaxed).oldValue % 1_000 == 0 else { return }
        logger.warning("an event is not published", metadata: ["event": "\(name)", "reason": "\(reason)"])
    }
}

/// A publisher's PUB socket.
///
/// The bus thread owns it once it is attached. Only ``pending`` is shared.
final class PublisherSocket: BusParticipant, @unchecked Sendable {
    private let bound: BoundSocket
    private var isClosed = false
    /// Events in the work queue that are not sent yet.
    let pending = Atomic<Int>(0)

    /// The maximum size of a subscription in bytes.
    private static let maxSubscriptionBytes: Int64 = 1_024

    init(bus: Bus, endpoint: String, limits: EventLimits, logger: Logger) throws(BusError) {
        bound = try BoundSocket(
            ZMQ_PUB, at: endpoint, context: bus.context, security: bus.security, logger: logger
        ) { socket throws(BusError) in
            try socket.set(ZMQ_MAXMSGSIZE, Self.maxSubscriptionBytes)
            try socket.set(ZMQ_SNDHWM, Int32(clamping: max(limits.maxPending, 1)))
            try socket.set(ZMQ_LINGER, Int32(1_000))
            try socket.setLiveness(ofService: limits.silence)
        }
    }

    var endpoint: String { bound.endpoint }

    /// A PUB socket receives no messages, but ZeroMQ processes new subscriptions only when the socket is polled.
    var sockets: [ZeroMQSocket] { [bound.socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        bound.socket.catchUp()
        return false
    }

    func send(_ name: String, _ payload: Data) {
        pending.subtract(1, ordering: .relaxed)
        guard !isClosed else { return }
        bound.socket.catchUp()
        // A slow subscriber misses events; the others get them.
        if bound.socket.send(Array(name.utf8), more: true) == .sent { _ = bound.socket.send(payload) }
    }

    var nextTick: MonotonicMilliseconds? { bound.nextTick }

    func tick(now: MonotonicMilliseconds) {
        bound.tick(now: now)
    }

    func close() {
        isClosed = true
        bound.close()
    }
}

/// An event with the latest state of something, such as its version. It is published after each change, and once a second. So a
/// subscriber is out of date for at most a second, even if it missed an event, and for at most three if another instance made the change.
package struct RepeatedEvent<Event: Encodable & Sendable>: Sendable {
    package let name: String
    private let publisher: EventPublisher
    private let logger: Logger
    private let read: @Sendable () async throws -> Event

    /// - Parameters:
    ///   - name: The event's name, such as `cube.changed`.
    ///   - read: The event with the state of this moment.
    package init(
        _ name: String, publisher: EventPublisher, logger: Logger, read: @escaping @Sendable () async throws -> Event
    ) {
        self.name = name
        self.publisher = publisher
        self.logger = logger
        self.read = read
    }

    /// Publishes a change at once.
    package func announce(_ event: Event) {
        do {
            publisher.publish(name, try JSONCoder.encode(event))
        } catch {
            logger.error("an event could not be written", metadata: ["event": "\(name)", "error": "\(error)"])
        }
    }

    /// Publishes the state of this moment.
    package func announceState() async throws {
        announce(try await read())
    }
}

/// The limits of a publisher and of a subscriber.
package struct EventLimits: Sendable {
    /// The maximum number of queued events: for each subscriber of a publisher, and for the task that consumes them.
    package var maxPending = 10_000
    /// The maximum payload in bytes.
    package var maxPayloadBytes = 1 << 20
    /// How long a connection may be silent, despite heartbeats, before it counts as lost.
    package var silence = BusTimes.silence

    package init() {}
}
