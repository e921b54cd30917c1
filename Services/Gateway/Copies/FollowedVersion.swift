import Base
import Bus
import Logging
import ServiceLifecycle
import Synchronization

/// The latest version of a service's data, from its events and replies. Copies ask it whether they are fresh.
final class FollowedVersion<Event: VersionEvent>: Service {
    private let subscriber: EventSubscriber
    private let logger: Logger
    private let freshness = Mutex(Freshness<Event.Version>())
    private let copies = Mutex<[AsyncStream<Void>.Continuation]>([])
    private let observers = Mutex<[@Sendable (Event) -> Void]>([])

    /// - Parameter endpoints: The event sockets of the service's instances.
    /// - Throws: ``BusError`` if an endpoint is invalid, or the bus is closed.
    init(bus: Bus, endpoints: [String], logger: Logger) throws(BusError) {
        subscriber = try EventSubscriber(bus: bus, endpoints: endpoints, names: [Event.name], logger: logger)
        self.logger = logger
    }

    /// Wakes a copy that is kept current whenever another version may be the latest one.
    func wake(_ copy: AsyncStream<Void>.Continuation) {
        copies.withLock { $0.append(copy) }
    }

    /// Calls a function with each event, once its version counts as known. It must return quickly: later versions are not known until then.
    func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    private func wakeCopies() {
        for copy in copies.withLock(\.self) { copy.yield() }
    }

    /// The latest known version.
    var latest: Event.Version? { freshness.withLock(\.latestVersion) }

    /// Whether a copy of this version may be used now.
    ///
    /// - Parameter wanted: The latest known version when the copy was asked for.
    func isFresh(_ version: Event.Version, asOf wanted: Event.Version? = nil) -> Bool {
        freshness.withLock { $0.isFresh(version, asOf: wanted, at: .now) }
    }

    /// When the service last confirmed this version; `nil` if another one is known.
    func confirmation(of version: Event.Version) -> ContinuousClock.Instant? {
        freshness.withLock { $0.confirmation(of: version) }
    }

    /// A change through this gateway made this version.
    func edited(_ version: Event.Version) {
        freshness.withLock { $0.edited(version, at: .now) }
        wakeCopies()
    }

    /// A reply had this version.
    ///
    /// - Parameter asked: When the request was sent.
    func read(_ version: Event.Version, asked: ContinuousClock.Instant) {
        let isNew = freshness.withLock { freshness in
            defer { freshness.read(version, asked: asked) }
            return freshness.confirmation(of: version) == nil
        }
        // Another copy may have the version before.
        if isNew { wakeCopies() }
    }

    private func heard(_ event: Event) {
        let isNew = freshness.withLock { freshness in
            defer { freshness.announced(event.version, byEdit: event.versionedEdit != nil, at: .now) }
            return freshness.confirmation(of: event.version) == nil
        }
        if isNew { wakeCopies() }
        for observe in observers.withLock(\.self) { observe(event) }
    }

    /// Follows the service's events.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await event in self.subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                do {
                    self.heard(try JSONCoder.decode(Event.self, from: payload))
                } catch {
                    self.logger.warning("an event cannot be read", metadata: ["event": "\(Event.name)", "error": "\(error)"])
                }
            }
        }
    }
}
