import CommandBus
import JSON
import Logging
import ServiceLifecycle
import Synchronization

/// The event by which a service announces the version of its data: after each change, and once a second.
protocol VersionEvent: Decodable, Sendable {
    associatedtype Version: Comparable & LosslessStringConvertible & Sendable

    /// The event's name on the bus.
    static var name: String { get }

    var version: Version { get }
}

/// A value that belongs to one version of a service's data.
protocol Versioned<Version>: Sendable {
    associatedtype Version: Comparable & LosslessStringConvertible & Sendable
    /// An edit through this gateway.
    associatedtype Edit: VersionedEdit<Version> = NoEdit<Version>

    var version: Version { get }

    /// The value after edits that it does not contain, in their order.
    func applying(_ edits: [Edit]) throws -> Self
}

/// An edit that has made a version.
protocol VersionedEdit<Version>: Sendable {
    associatedtype Version: Comparable & Sendable

    var version: Version { get }
}

/// The edit of data that the gateway does not edit.
enum NoEdit<Version: Comparable & Sendable>: VersionedEdit {
    var version: Version {
        switch self {}
    }
}

extension Versioned where Edit == NoEdit<Version> {
    func applying(_ edits: [NoEdit<Version>]) -> Self { self }
}

/// The latest version of a service's data, from its events and replies. Copies ask it whether they are fresh.
final class FollowedVersion<Event: VersionEvent>: Service {
    private let subscriber: EventSubscriber
    private let logger: Logger
    private let freshness = Mutex(Freshness<Event.Version>())
    private let copies = Mutex<[AsyncStream<Void>.Continuation]>([])

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

    private func wakeCopies() {
        for copy in copies.withLock(\.self) { copy.yield() }
    }

    /// Whether a copy of this version may be used now.
    func isFresh(_ version: Event.Version) -> Bool {
        freshness.withLock { $0.isFresh(version, at: .now) }
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
        // Another copy may have the former version.
        if isNew { wakeCopies() }
    }

    /// Follows the service's events.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await event in self.subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                do {
                    let version = try JSONCoder.decode(Event.self, from: payload).version
                    let isNew = self.freshness.withLock { freshness in
                        defer { freshness.announced(version, at: .now) }
                        return freshness.confirmation(of: version) == nil
                    }
                    if isNew { self.wakeCopies() }
                } catch {
                    self.logger.warning("an event cannot be read", metadata: ["event": "\(Event.name)", "error": "\(error)"])
                }
            }
        }
    }
}
