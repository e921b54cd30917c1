/// `cube.read`: the whole cube, or only its version where the reader has that one already.
package struct ReadCube: Command {
    package static let name = "cube.read"

    /// `channels` is left out where `known` is still the latest version.
    package struct Reply: Codable, Hashable, Sendable {
        package let version: CubeVersion
        package let channels: [Channel]?

        package init(version: CubeVersion, channels: [Channel]?) {
            self.version = version
            self.channels = channels
        }
    }

    /// The version that the reader has.
    package let known: CubeVersion?

    package init(known: CubeVersion? = nil) {
        self.known = known
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case known
    }

    package init(from decoder: any Decoder) throws {
        known = try StrictFields(of: decoder, as: CodingKeys.self).optional(.known)
    }
}
