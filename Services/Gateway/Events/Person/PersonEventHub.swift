import Base
import Bus
import CoreMetrics
import FoundationEssentials
import Instruments
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Passes what happens to persons, and in their classes, on to their open apps. The events are hints: the app fetches what has
/// changed.
final class PersonEventHub: Service {
    private let subscribers: [(source: PersonEventSource, subscriber: EventSubscriber)]
    private let devices: DeviceAccess
    private let keepAlivePeriod: Duration
    private let streams = Mutex(OpenPersonStreams())
    private let logger: Logger

    /// - Parameters:
    ///   - people: The event sockets of the people service.
    ///   - study: Those of the study service.
    ///   - keepAlivePeriod: The time between two `alive` events.
    /// - Throws: ``BusError`` if an endpoint is invalid, or the bus is closed.
    init(
        bus: Bus, people: [String], study: [String], devices: DeviceAccess,
        keepAlivePeriod: Duration = EventHub.defaultKeepAlivePeriod, logger: Logger
    ) throws(BusError) {
        let ofPeople = try EventSubscriber(
            bus: bus, endpoints: people, names: PersonEventSource.people.events, logger: logger)
        let ofStudy = try EventSubscriber(
            bus: bus, endpoints: study, names: PersonEventSource.study.events, logger: logger)
        subscribers = [(.people, ofPeople), (.study, ofStudy)]
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

    /// The position behind the last event. Who reads a person's classes for a stream asks for it first (``FollowedClasses``).
    var position: String { streams.withLock(\.position) }

    /// Opens a stream. The caller writes the queue's bytes, and then calls ``close(_:)``.
    ///
    /// - Parameters:
    ///   - lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    ///   - classes: `nil` if the client has asked for none.
    func open(
        _ queue: EventStreamQueue, for person: PersonCaller, lastEventID: String?, classes: FollowedClasses?
    ) -> OpenPersonStreams.StreamID {
        let id = streams.withLock { $0.open(queue, for: person, lastEventID: lastEventID, classes: classes) }
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
                for (source, subscriber) in self.subscribers {
                    group.addTask { await self.follow(subscriber, source) }
                }
                group.addTask {
                    await RepeatingService(every: self.keepAlivePeriod) {
                        self.checkStreams()
                        return .periodic
                    }.run()
                }
            }
        }
    }

    private func follow(_ subscriber: EventSubscriber, _ source: PersonEventSource) async {
        for await event in subscriber.events {
            switch event {
            case .connected(let endpoint): streams.withLock { $0.connected(source, to: endpoint) }
            case .disconnected(let endpoint): streams.withLock { $0.disconnected(source, from: endpoint) }
            case .missed: streams.withLock { $0.lose(source) }
            case .event(let name, let payload, _):
                do {
                    try take(name, payload, from: source)
                } catch {
                    streams.withLock { $0.lose(source) }
                    logger.warning("an event cannot be read", metadata: ["event": "\(name)", "error": "\(error)"])
                }
            }
        }
    }

    private func take(_ name: String, _ payload: Data, from source: PersonEventSource) throws {
        if name == ClassChanged.name {
            let event = try JSONCoder.decode(ClassChanged.self, from: payload)
            try streams.withLock { try $0.add(event) }
        } else {
            let event = try JSONCoder.decode(PersonChanged.self, from: payload)
            try streams.withLock { try $0.add(event, from: source) }
        }
    }

    /// Ends the streams whose tokens have expired, and shows the others that they work.
    private func checkStreams() {
        let persons = streams.withLock(\.persons)
        let ended = persons.filter { devices.refusal(of: $0.person) != nil }.map(\.id)
        let count = streams.withLock { streams in
            for id in ended { streams.end(id) }
            streams.tellLosses()
            streams.keepAlive()
            return streams.count
        }
        Instrument.personStreams.gauge().set(count)
    }
}
