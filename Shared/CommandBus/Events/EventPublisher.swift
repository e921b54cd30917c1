package import FoundationEssentials
package import Logging
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
