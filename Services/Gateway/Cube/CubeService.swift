import CommandBus
import FoundationEssentials
import JSON
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// The cube service, seen from the gateway: commands go through, and reads are answered from a copy while it is fresh.
///
/// The whole cube is read for those who list it alone. A post needs one subject, which is asked for by its topic key.
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

    /// The cube as it is now, give or take a moment.
    ///
    /// - Throws: ``CommandFailure`` when there is no fresh copy and the cube service does not answer.
    func current() async throws -> CubeCopy {
        if let copy = freshCopy() { return copy }
        // A reading that was under way may have begun before the change that it has to show; the one after it has not.
        var copy = try await read()
        for _ in 0..<2 {
            if let fresh = freshCopy() { return fresh }
            copy = try await read()
        }
        return copy
    }

    /// The subject that a topic key names, as it is now, give or take a moment; `nil` where there is none.
    ///
    /// - Throws: ``CommandFailure`` when what is known is not fresh and the cube service does not answer.
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

    /// Makes a change.
    func edit<Edit: Command, Value>(_ command: Edit) async throws -> CubeEdit<Value> where Edit.Reply == CubeEdit<Value> {
        let edit = try await client.request(command)
        state.withLock { $0.freshness.edited(edit.version, at: .now) }
        return edit
    }

    /// Follows the cube service's announcements.
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

    /// Reads the cube, together with whoever wants it at the same time.
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
