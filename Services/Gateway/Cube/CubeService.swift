import CommandBus
import FoundationEssentials
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// The cube service, seen from the gateway: commands go through, and reads are answered from a copy while it is fresh.
final class CubeService: Service {
    private struct State {
        var freshness = CubeFreshness()
        var copy: CubeCopy?
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
                    let change = try SchemaJSON.decode(CubeChanged.self, from: payload)
                    self.state.withLock { $0.freshness.announced(change.version, at: .now) }
                } catch {
                    self.logger.warning("an announcement of the cube cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func freshCopy() -> CubeCopy? {
        state.withLock { $0.freshness.isFresh(at: .now) ? $0.copy : nil }
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
            copy = try CubeCopy(CubeSnapshot(version: reply.version, channels: channels))
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
}
