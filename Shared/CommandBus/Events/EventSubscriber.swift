package import Logging

/// Receives the events of one or several publishers, and their connects and disconnects.
package final class EventSubscriber: Sendable {
    private let bus: Bus
    private let sockets: SubscriberSockets
    private let watch: EndpointWatch.ID

    /// The events, for one consuming task. The stream ends when the subscriber or its bus is closed.
    ///
    /// If more than ``EventLimits/maxPending`` events are queued, the oldest are dropped and replaced by ``BusEvent/missed``.
    package let events: AsyncStream<BusEvent>

    /// - Parameters:
    ///   - endpoints: The publishers' endpoints: `ipc://<path>` or `tcp://<host>:<port>`. A `*` in the file name of a path stands
    ///     for all instances of a service.
    ///   - names: The events to subscribe to; all if it is empty.
    /// - Throws: ``BusError`` if an endpoint is invalid or the bus is closed. An unreachable publisher is no error.
    package init(
        bus: Bus, endpoints: [String], names: [String] = [], limits: EventLimits = .init(), logger: Logger
    ) throws(BusError) {
        let mailbox = EventMailbox(capacity: limits.maxPending)
        let endpoints = try ClientEndpoints(endpoints)
        let instances = EndpointWatch.instances(of: endpoints)
        sockets = try SubscriberSockets(
            bus: bus, endpoints: endpoints, instances: instances, names: names, limits: limits, mailbox: mailbox,
            logger: logger)
        self.bus = bus
        events = AsyncStream(unfolding: mailbox.take, onCancel: mailbox.finish)
        watch = try bus.attach(sockets, watching: endpoints, known: instances)
    }

    deinit {
        bus.watch.remove(watch)
        bus.abandon(sockets)
    }

    /// Ends the events. Closing the bus does the same.
    package func close() async {
        bus.watch.remove(watch)
        await bus.detach(sockets)
    }
}
