package import FoundationEssentials
package import Logging
import Synchronization

/// Tells whoever wants to know. Events are not kept: who is not connected, or does not keep up, misses them.
package final class EventPublisher: Sendable {
    private let bus: Bus
    private let socket: PublisherSocket
    private let limits: EventLimits
    private let logger: Logger
    private let dropped = Atomic<Int>(0)

    /// Where the publisher listens, with the port that the system chose.
    package let endpoint: String

    /// Begins to listen; `endpoint` as for ``CommandServer``.
    ///
    /// - Throws: ``BusError`` where the endpoint is not one, somebody else serves it, or the system refuses.
    package init(bus: Bus, endpoint: String, limits: EventLimits = .init(), logger: Logger) throws(BusError) {
        socket = try PublisherSocket(context: bus.context, endpoint: endpoint, limits: limits, logger: logger)
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
    ///   - name: Such as `cube.changed`.
    ///   - payload: JSON, of at most ``EventLimits/maxPayloadBytes``.
    package func publish(_ name: String, _ payload: Data) {
        guard payload.count <= limits.maxPayloadBytes else { return drop(name, "its payload is too large") }
        guard socket.pending.wrappingAdd(1, ordering: .relaxed).newValue <= limits.maxPending else {
            socket.pending.subtract(1, ordering: .relaxed)
            return drop(name, "too many events are on their way")
        }
        // Where the bus is closed there is nobody left to tell.
        _ = bus.submit(.publish(socket, name: name, payload: payload))
    }

    /// Stops listening. Closing the bus does the same.
    package func close() async {
        await bus.detach(socket)
    }

    /// Says so for the first of every thousand, so that a flood of events is not a flood of lines.
    private func drop(_ name: String, _ reason: String) {
        guard dropped.wrappingAdd(1, ordering: .relaxed).oldValue % 1_000 == 0 else { return }
        logger.warning("an event is not published", metadata: ["event": "\(name)", "reason": "\(reason)"])
    }
}
