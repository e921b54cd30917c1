/// A version of a service's data as an entity tag: `"v17"`.
struct VersionTag<Version: LosslessStringConvertible> {
    let version: Version

    init(_ version: Version) {
        self.version = version
    }

    /// - Returns: `nil` if it is not the tag of a version.
    init?(_ tag: EntityTag) {
        guard let version = Version(String(tag.text.dropFirst())), VersionTag(version).text == "\"\(tag.text)\"" else {
            return nil
        }
        self.version = version
    }

    var text: String { "\"v\(version)\"" }
}
