import Base
import FoundationEssentials
import Schemas
import Synchronization

/// Answers with the whole cube: in one reply, or page by page if it is too large for one.
///
/// A large cube takes seconds to read on a slow machine. So it is read and cut once for all its pages, and once for all callers. A caller
/// whose time was up finds the result when it asks again.
final class CubeReader: Sendable {
    /// The cube in the form in which it is answered.
    private struct Content {
        let version: CubeVersion
        /// The payload of the reply; `nil` if it is too large for one.
        let payload: Data?
        /// One page if it fits into one reply.
        let pages: [[Channel]]
    }

    /// A reading, under way or done.
    private struct Reading {
        /// The cube's version and digest before it.
        let cube: CubeChanged
        let content: Task<Content, any Error>
    }

    /// For how long the pages of a large cube are kept. They have its size.
    private static let kept = Duration.seconds(60)

    private let store: CubeStore
    private let reading = Mutex<Reading?>(nil)

    init(store: CubeStore) {
        self.store = store
    }

    /// - Returns: The reply's payload. It is encoded here, once, since its size decides between one reply and pages.
    func read(_ command: ReadCube) async throws -> Data {
        let latest = try await store.announced()
        if let known = command.known {
            let isOther = command.digest != nil && latest.digest != nil && command.digest != latest.digest
            if latest.version == known, !isOther { return try ReadCube.payload(of: ReadCube.Reply(version: known)) }
        }
        let content = try await content(of: latest)
        return try content.payload
            ?? ReadCube.payload(of: ReadCube.Reply(version: content.version, pages: content.pages.count))
    }

    func read(_ command: ReadCubePage) async throws -> ReadCubePage.Reply {
        let content = try await content(of: store.announced())
        guard content.version == command.version else {
            throw CommandFailure(.conflict, "the cube is at version \(content.version) now; read it again", field: "version")
        }
        guard content.pages.indices.contains(command.page) else {
            throw CommandFailure(
                .invalid, "page: expected one of the cube's \(content.pages.count) pages, counted from 0", field: "page")
        }
        return ReadCubePage.Reply(channels: content.pages[command.page])
    }

    private func content(of cube: CubeChanged) async throws -> Content {
        let content = reading.withLock { reading in
            if let reading, reading.cube.version == cube.version, reading.cube.digest == cube.digest { return reading.content }
            let content = Task { [store] in try await Self.content(in: store) }
            reading = Reading(cube: cube, content: content)
            Task { [weak self] in
                // A small cube is read again by the next caller.
                if let made = try? await content.value, made.payload == nil { try? await Task.sleep(for: Self.kept) }
                self?.forget(content)
            }
            return content
        }
        return try await content.value
    }

    private static func content(in store: CubeStore) async throws -> Content {
        let cube = try await store.snapshot()
        let payload = try ReadCube.payload(of: ReadCube.Reply(version: cube.version, channels: cube.channels))
        let isSmall = payload.count <= CubePages.maxBytes
        return Content(
            version: cube.version, payload: isSmall ? payload : nil,
            pages: isSmall ? [cube.channels] : try CubePages.cut(cube.channels))
    }

    private func forget(_ content: Task<Content, any Error>) {
        reading.withLock { if $0?.content == content { $0 = nil } }
    }
}
