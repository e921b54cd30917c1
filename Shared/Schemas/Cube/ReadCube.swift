package import Base

/// `cube.read`: the whole cube, or only its version if the reader has it already.
package struct ReadCube: Command {
    package static let name = "cube.read"

    /// `channels` is left out if the reader has the cube, and if the cube is too large for one reply. In the second
    /// case `pages` is the number of ``ReadCubePage`` commands that read it.
    package struct Reply: Codable, Hashable, Sendable {
        package let version: CubeVersion
        package let channels: [Channel]?
        package let pages: Int?

        package init(version: CubeVersion, channels: [Channel]? = nil, pages: Int? = nil) {
            self.version = version
            self.channels = channels
            self.pages = pages
        }
    }

    /// The version that the reader has.
    package let known: CubeVersion?
    /// The digest of what the reader has; `nil` if the version says enough.
    package let digest: CubeDigest?

    package init(known: CubeVersion? = nil, digest: CubeDigest? = nil) {
        self.known = known
        self.digest = digest
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case known, digest
    }
}

/// `cube.page`: one page of a cube that is too large for one reply. ``CubePages`` assembles the pages of one version.
package struct ReadCubePage: Command, Checked {
    package static let name = "cube.page"

    package struct Reply: Codable, Hashable, Sendable {
        package let channels: [Channel]

        package init(channels: [Channel]) {
            self.channels = channels
        }
    }

    /// The version from the reply to ``ReadCube``. If the cube has another version by now, the answer is `conflict`, and the
    /// reader starts again with the first page.
    package let version: CubeVersion
    /// From 0.
    package let page: Int

    package init(version: CubeVersion, page: Int) {
        self.version = version
        self.page = page
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case version, page
    }

    package func check() throws(SchemaViolation) {
        try (0...1_000_000).check(page, CodingKeys.page)
    }
}
