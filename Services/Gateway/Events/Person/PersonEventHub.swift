import Base
import Bus
import CoreMetrics
import Instruments
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Passes what happens to persons on to their open apps. The events are hints: the app fetches what has changed.
final class PersonEventHub: Service {
    private let subscriber: EventSubscriber
    private let devices: DeviceAccess
    private let keepAlivePeriod: Duration
    private let streams = Mutex(OpenPersonStreams())
    private let logger: Logger

    /// - Parameters:
    ///   - endpoints: The event sockets of the people service.
    ///   - keepAlivePeriod: The time between two `alive` events.
    /// - Throws: ``BusError`` if an endpoint is invalid, or the bus is closed.
    init(
        bus: Bus, endpoints: [String], devices: DeviceAccess,
        keepAlivePeriod: Duration = EventHub.defaultKeepAlivePeriod, logger: Logger
    ) throws(BusError) {
        subscriber = try EventSubscriber(bus: bus, endpoints: endpoints, names: [PersonChanged.name], logger: logger)
        self.devices = devices
        self.keepAlivePeriod = keepAlivePeriod
        self.logger = logger
        devices.observe { [weak self] news in
            self?.streams.withLock { streams in
                // A token does not tell its key. The apps whose tokens still count come back.
                if news.hasFewerKeys { streams.endAll() } else { streams.end(news.ended) }
            }
        }
    }

    /// Opens a stream. The caller writes the queue's bytes, and then calls ``close(_:)``.
    ///
    /// - Parameter lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    func open(_ queue: EventStreamQueue, for person: PersonCaller, lastEventID: String?) -> OpenPersonStreams.StreamID {
        let id = streams.withLock { $0.open(queue, for: person, lastEventID: lastEventID) }
        // The device may have ended before the stream was among those that are ended.
        if devices.refusal(of: person) != nil { streams.withLock { $0.end(id) } }
        return id
    }

    func close(_ id: OpenPersonStreams.StreamID) {
        streams.withLock { $0.close(id) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.follow() }
                group.addTask {
                    await RepeatingService(every: self.keepAlivePeriod) {
                        self.checkStreams()
                        return .periodic
                    }.run()
                }
            }
        }
    }

    private func follow() async {
        for await event in subscriber.events {
            switch event {
            // Also at a new connection: what an app reads before it may be older than what is missed.
            case .connected, .disconnected, .missed: streams.withLock { $0.lose() }
            case .event(_, let payload, _):
                do {
                    let event = try JSONCoder.decode(PersonChanged.self, from: payload)
                    try streams.withLock { try $0.add(event) }
                } catch {
                    streams.withLock { $0.lose() }
                    logger.warning("an event cannot be read", metadata: ["event": "\(PersonChanged.name)", "error": "\(error)"])
                }
            }
        }
    }

    /// Ends the streams whose tokens have expired, and shows the others that they work.
    private func checkStreams() {
        let persons = streams.withLock(\.persons)
        let ended = persons.filter { devices.refusal(of: $0.person) != nil }.map(\.id)
        let count = streams.withLock { streams in
            for id in ended { streams.end(id) }
            streams.keepAlive()
            return streams.count
        }
        Instrument.personStreams.gauge().set(count)
    }
}
