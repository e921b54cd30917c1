import CommandBus
import FoundationEssentials
import JSON
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// The gateway's access to the cube service. It forwards commands, and answers reads from a copy while the copy is fresh.
///
/// The whole cube is read only for `GET /channel`. A post needs one subject, which is requested by its topic key.
final class CubeService: Service {
    private struct State {
        var freshness = CubeFreshness()
        var copy: CubeCopy?
        var subjects = KnownSubjects()
        var reading: Task<CubeCopy, any Error>?
    }

    private let client: CommandClient
    private let subscriber: EventSubscriber
    private let logger: Logger
    private let state = Mutex(State())

    init(client: CommandClient, subscriber: EventSubscriber, logger: Logger) {
        self.client = client
        self.subscriber = subscriber
        self.logger = logger
    }

    /// The current cube. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if there is no fresh copy and the cube service does not answer.
    func current() async throws -> CubeCopy {
        if let copy = freshCopy() { return copy }
        // A read that was already running may have begun before the change that it must show. The next one has not.
        var copy = try await read()
        for _ in 0..<2 {
            if let fresh = freshCopy() { return fresh }
            copy = try await read()
        }
        return copy
    }

    /// The current subject with a topic key; `nil` if there is none. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if the known subjects are not fresh and the cube service does not answer.
    func subject(of topicKey: TopicKey) async throws -> FindSubject.Reply? {
        let known = state.withLock { state -> FindSubject.Reply? in
            guard let known = state.subjects[topicKey], state.freshness.isFresh(known.version, at: .now) else { return nil }
            return known
        }
        if let known { return known }
        let asked = ContinuousClock.now
        do throws(CommandFailure) {
            let found = try await client.request(FindSubject(topicKey: topicKey))
            state.withLock { state in
                state.freshness.read(found.version, asked: asked)
                if state.freshness.isFresh(found.version, at: .now) { state.subjects.add(found) }
            }
            return found
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    /// Performs a change.
    func edit<Edit: Command, Value>(_ command: Edit) async throws -> CubeEdit<Value> where Edit.Reply == CubeEdit<Value> {
        let edit = try await client.request(command)
        state.withLock { $0.freshness.edited(edit.version, at: .now) }
        return edit
    }

    /// Follows the cube service's events.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await event in self.subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                do {
                    let change = try JSONCoder.decode(CubeChanged.self, from: payload)
                    self.state.withLock { $0.freshness.announced(change.version, at: .now) }
                } catch {
                    self.logger.warning("an announcement of the cube cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func freshCopy() -> CubeCopy? {
        state.withLock { state in
            guard let copy = state.copy, state.freshness.isFresh(copy.version, at: .now) else { return nil }
            return copy
        }
    }

    /// Reads the cube. Concurrent callers share one read.
    private func read() async throws -> CubeCopy {
        let task = state.withLock { state in
            if let reading = state.reading { return reading }
            let task = Task { try await self.readAlone() }
            state.reading = task
            return task
        }
        return try await task.value
    }

    private func readAlone() async throws -> CubeCopy {
        defer { state.withLock { $0.reading = nil } }
        let known = state.withLock { $0.copy }
        let asked = ContinuousClock.now
        let reply = try await client.request(ReadCube(known: known?.version))
        let copy: CubeCopy
        if let channels = reply.channels {
            copy = try CubeCopy(version: reply.version, channels: channels)
        } else if let pages = reply.pages {
            copy = try await CubeCopy(version: reply.version, channels: channels(of: reply.version, pages: pages))
        } else if let known {
            copy = known
        } else {
            throw CommandFailure(.internal, "the cube service answered without the cube")
        }
        state.withLock { state in
            state.copy = copy
            state.freshness.read(copy.version, asked: asked)
        }
        return copy
    }

    /// Reads a cube that is too large for one reply.
    private func channels(of version: CubeVersion, pages count: Int) async throws -> [Channel] {
        var pages: [[Channel]] = []
        for page in 0..<count {
            do throws(CommandFailure) {
                pages.append(try await client.request(ReadCubePage(version: version, page: page)).channels)
            } catch {
                guard error.status == .conflict else { throw error }
                throw CommandFailure(.overloaded, "the cube was changed while its \(count) pages were read; try again")
            }
        }
        return CubePages.join(pages)
    }
}
