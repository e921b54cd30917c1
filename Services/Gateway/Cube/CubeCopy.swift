import FoundationEssentials
import JSON
import Schemas

/// The gateway's copy of the cube, as `GET /channel` answers it.
struct CubeCopy: Sendable {
    let version: CubeVersion
    /// All channels.
    let json: Data

    init(version: CubeVersion, channels: [Channel]) throws {
        self.version = version
        json = try JSONCoder.encode(channels)
    }
}
