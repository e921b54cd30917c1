import CommandBus
import FoundationEssentials
import JSON
import Schemas

extension CubeChanged: VersionEvent {}

/// The gateway's copy of the cube, as `GET /channel` answers it.
struct CubeCopy: Versioned {
    let version: CubeVersion
    /// All channels.
    let json: Data

    init(version: CubeVersion, channels: [Channel]) throws {
        self.version = version
        json = try JSONCoder.encode(channels)
    }
}

extension CommandClient {
    /// Reads the cube: in one reply, or page by page if it is too large for one.
    ///
    /// - Parameter known: The copy to return if the cube has no other version.
    /// - Throws: ``CommandFailure``.
    func readCube(known: CubeCopy?) async throws -> CubeCopy {
        let reply = try await request(ReadCube(known: known?.version))
        if let channels = reply.channels { return try CubeCopy(version: reply.version, channels: channels) }
        if let pages = reply.pages {
            return try await CubeCopy(version: reply.version, channels: channels(of: reply.version, pages: pages))
        }
        guard let known else { throw CommandFailure(.internal, "the cube service answered without the cube") }
        return known
    }

    private func channels(of version: CubeVersion, pages count: Int) async throws -> [Channel] {
        var pages: [[Channel]] = []
        for page in 0..<count {
            do throws(CommandFailure) {
                pages.append(try await request(ReadCubePage(version: version, page: page)).channels)
            } catch {
                guard error.status == .conflict else { throw error }
                throw CommandFailure(.overloaded, "the cube was changed while its \(count) pages were read; try again")
            }
        }
        return CubePages.join(pages)
    }
}
