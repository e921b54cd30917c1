import Schemas

/// The version of the cube in an entity tag: `17`, or `17-open` for the document without the access lists.
struct CubeTag: LosslessStringConvertible, Comparable {
    private static let openSuffix = "-open"

    let version: CubeVersion
    let showsAccess: Bool

    init(_ version: CubeVersion, showsAccess: Bool = true) {
        self.version = version
        self.showsAccess = showsAccess
    }

    init?(_ description: String) {
        let isOpen = description.hasSuffix(Self.openSuffix)
        guard let version = CubeVersion(String(description.dropLast(isOpen ? Self.openSuffix.count : 0))) else { return nil }
        self.init(version, showsAccess: !isOpen)
    }

    static func < (one: CubeTag, other: CubeTag) -> Bool { one.version < other.version }

    var description: String { version.description + (showsAccess ? "" : Self.openSuffix) }
}

extension RequestHeader {
    /// The version of the cube that the author of an edit saw.
    static let ifMatchCube = seenVersion(#"v[0-9]{1,18}(-open)?"#)
}
