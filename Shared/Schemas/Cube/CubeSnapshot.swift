/// The whole cube at one version.
package struct CubeSnapshot: Codable, Hashable, Sendable {
    package let version: CubeVersion
    /// In the order of their creation.
    package let channels: [Channel]

    package init(version: CubeVersion, channels: [Channel]) {
        self.version = version
        self.channels = channels
    }

    /// A cube that was never changed.
    package static let initial = CubeSnapshot(version: .initial, channels: [])
}

/// The event `cube.changed`: sent after each change, and repeated every second with the latest version, so that a subscriber that
/// missed one notices.
///
/// A copy at the version before may make the edit itself. Every other copy reads the cube (``ReadCube``), and so does one that has the
/// version with another digest.
package struct CubeChanged: Codable, Sendable {
    /// The event's name on the bus.
    package static let name = "cube.changed"

    package let version: CubeVersion
    /// The edit that has made the version. It is absent in repetitions, after a change by another program, and if it is too large for an
    /// event.
    package let edit: AppliedCubeEdit?
    /// The digest of the cube at the version; `nil` if the cube was never measured.
    package let digest: CubeDigest?

    package init(version: CubeVersion, edit: AppliedCubeEdit? = nil, digest: CubeDigest? = nil) {
        self.version = version
        self.edit = edit
        self.digest = digest
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(CubeVersion.self, forKey: .version)
        // A newer cube service may know edits that this program does not know.
        edit = try? container.decodeIfPresent(AppliedCubeEdit.self, forKey: .edit)
        digest = try container.decodeIfPresent(CubeDigest.self, forKey: .digest)
    }

    private enum CodingKeys: String, CodingKey {
        case version, edit, digest
    }
}

/// The state of the cube that `msi restore` changes: the one document of the collection `cube`.
package enum CubeNumbers {
    package static let collection = "cube"
    package static let stateID = "cube"
    package static let version = "version"
    /// The version of the restored cube. All objects count as changed in it.
    package static let restored = "restored"
}

/// The outcome of a change: the changed object and its new version.
package struct CubeEdit<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    package let version: CubeVersion
    package let value: Value

    package init(version: CubeVersion, value: Value) {
        self.version = version
        self.value = value
    }
}
