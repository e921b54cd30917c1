import Schemas
import Synchronization

/// Copies of parts of a service's data, each requested by its key. They are for data from which most requests need only a small part.
final class FollowedParts<Key: Hashable & Sendable, Part: Versioned, Event: VersionEvent>: Sendable
where Part.Version == Event.Version {
    /// Asks the service for a part.
    typealias Finder = @Sendable (Key) async throws(CommandFailure) -> Part

    private let version: FollowedVersion<Event>
    private let finder: Finder
    private let known = Mutex(KnownParts<Key, Part>())

    init(of version: FollowedVersion<Event>, finder: @escaping Finder) {
        self.version = version
        self.finder = finder
    }

    /// The current part; `nil` if there is none. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if no fresh part is known and the service does not answer.
    func current(_ key: Key) async throws(CommandFailure) -> Part? {
        if let part = known.withLock({ $0[key] }), version.isFresh(part.version) { return part }
        let asked = ContinuousClock.now
        do throws(CommandFailure) {
            let part = try await finder(key)
            version.read(part.version, asked: asked)
            if version.isFresh(part.version) { known.withLock { $0.add(part, for: key) } }
            return part
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }
}
