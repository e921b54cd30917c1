import CubeStorage
import FoundationEssentials
import Schemas

/// Answers with the whole cube: in one reply, or page by page if it is too large for one.
struct CubeReader: Sendable {
    let store: any CubeStore

    /// - Returns: The reply's payload. It is encoded here, once, since its size decides between one reply and pages.
    func read(_ command: ReadCube) async throws -> Data {
        if let known = command.known, try await store.version() == known {
            return try ReadCube.payload(of: ReadCube.Reply(version: known))
        }
        let snapshot = try await store.snapshot()
        let whole = try ReadCube.payload(of: ReadCube.Reply(version: snapshot.version, channels: snapshot.channels))
        guard whole.count > CubePages.maxBytes else { return whole }
        let pages = try CubePages.cut(snapshot.channels)
        return try ReadCube.payload(of: ReadCube.Reply(version: snapshot.version, pages: pages.count))
    }

    func read(_ command: ReadCubePage) async throws -> ReadCubePage.Reply {
        let snapshot = try await store.snapshot()
        guard snapshot.version == command.version else {
            throw CommandFailure(.conflict, "the cube is at version \(snapshot.version) now; read it again", field: "version")
        }
        let pages = try CubePages.cut(snapshot.channels)
        guard pages.indices.contains(command.page) else {
            throw CommandFailure(.invalid, "page: expected one of the cube's \(pages.count) pages, counted from 0", field: "page")
        }
        return ReadCubePage.Reply(channels: pages[command.page])
    }
}
