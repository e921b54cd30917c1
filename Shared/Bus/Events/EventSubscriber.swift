import DequeModule
package import FoundationEssentials
package import Logging
import Synchronization

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
    /// - Throws: ``BusError`` if an endpoint is invalid or the bus is closed. An unreachable publisher is not an error.
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

/// An event of a subscriber: a publisher's event, or a change of a connection.
package enum BusEvent: Hashable, Sendable {
    /// A publisher's event; the payload is JSON.
    case event(name: String, payload: Data, endpoint: String)
    /// The subscriber is connected to this endpoint. Earlier events may have been missed.
    case connected(endpoint: String)
    /// The subscriber has lost this endpoint, and receives no events from it until it is connected again.
    case disconnected(endpoint: String)
    /// Events were dropped here, because they were not consumed fast enough.
    case missed
}

/// Passes events from the bus thread to the task that consumes them.
final class EventMailbox: Sendable {
    private struct State {
        var queue: EventQueue
        var taker: CheckedContinuation<BusEvent?, Never>?
        var isFinished = false
    }

    private let state: Mutex<State>

    init(capacity: Int) {
        state = Mutex(State(queue: EventQueue(capacity: capacity)))
    }

    func put(_ event: BusEvent) {
        let taker = state.withLock { state -> CheckedContinuation<BusEvent?, Never>? in
            guard !state.isFinished else { return nil }
            if let taker = state.taker {
                state.taker = nil
                return taker
            }
            state.queue.append(event)
            return nil
        }
        taker?.resume(returning: event)
    }

    /// Waits for the next event; `nil` at the end, after all earlier events.
    func take() async -> BusEvent? {
        await withCheckedContinuation { continuation in
            // Only one task may wait. If a second one comes, the first one's stream ends.
            let (ready, displaced): (BusEvent??, CheckedContinuation<BusEvent?, Never>?) = state.withLock { state in
                if let event = state.queue.next() { return (.some(event), nil) }
                if state.isFinished { return (.some(nil), nil) }
                defer { state.taker = continuation }
                return (nil, state.taker)
            }
            displaced?.resume(returning: nil)
            if let ready { continuation.resume(returning: ready) }
        }
    }

    func finish() {
        let taker = state.withLock { state in
            state.isFinished = true
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: nil)
    }
}

/// Received events that are not consumed yet. When the queue is full, the oldest event is dropped, and the consumer gets
/// ``BusEvent/missed`` next.
struct EventQueue {
    private let capacity: Int
    private var events: Deque<BusEvent> = []
    private var hasGap = false

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    mutating func append(_ event: BusEvent) {
        if events.count == capacity {
            events.removeFirst()
            hasGap = true
        }
        events.append(event)
    }

    /// The oldest event, or ``BusEvent/missed`` if older ones were dropped.
    mutating func next() -> BusEvent? {
        if hasGap {
            hasGap = false
            return .missed
        }
        return events.popFirst()
    }
}
