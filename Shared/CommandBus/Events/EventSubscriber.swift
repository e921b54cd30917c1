package import Logging

/// Listens to the events of one or several publishers, and to their comings and goings.
package final class EventSubscriber: Sendable {
    private let bus: Bus
    private let sockets: SubscriberSockets

    /// What happens, for one task to take. It ends when the subscriber or its bus is closed.
    ///
    /// Of more than ``EventLimits/maxPending`` events that nobody has taken, the oldest are dropped, and
    /// ``BusEvent/missed`` comes in their place.
    package let events: AsyncStream<BusEvent>

    /// - Parameters:
    ///   - endpoints: Where publishers listen: `ipc://<path>` or `tcp://<host>:<port>`.
    ///   - names: The events to listen to; all of them where it is empty.
    /// - Throws: ``BusError`` where an endpoint is not one, or the bus is closed. A publisher that is away is no error.
    package init(
        bus: Bus, endpoints: [String], names: [String] = [], limits: EventLimits = .init(), logger: Logger
    ) throws(BusError) {
        let mailbox = EventMailbox(capacity: limits.maxPending)
        sockets = try SubscriberSockets(
            bus: bus, endpoints: endpoints, names: names, limits: limits, mailbox: mailbox, logger: logger)
        self.bus = bus
        events = AsyncStream(unfolding: mailbox.take, onCancel: mailbox.finish)
        try bus.attach(sockets)
    }

    deinit {
        bus.abandon(sockets)
    }

    /// Ends the events. Closing the bus does the same.
    package func close() async {
        await bus.detach(sockets)
    }
}
