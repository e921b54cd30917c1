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
package struct CubeChanged: Codable, Hashable, Sendable {
    /// The event's name on the bus.
    package static let name = "cube.changed"

    package let version: CubeVersion

    package init(version: CubeVersion) {
        self.version = version
    }
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
