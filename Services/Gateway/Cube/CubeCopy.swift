import FoundationEssentials
import JSON
import Schemas

/// The gateway's copy of the cube, in the form of `GET /channel`.
struct CubeCopy: Sendable {
    let version: CubeVersion
    /// All channels.
    let json: Data

    init(version: CubeVersion, channels: [Channel]) throws {
        self.version = version
        json = try JSONCoder.encode(channels)
    }
}
