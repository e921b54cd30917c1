/// A version of a service's data as an entity tag: `"v17"`.
struct VersionTag<Version: LosslessStringConvertible> {
    let version: Version

    init(_ version: Version) {
        self.version = version
    }

    /// - Returns: `nil` if the text is not the tag of a version.
    init?(text: String) {
        guard text.hasPrefix("\"v"), text.hasSuffix("\""), let version = Version(String(text.dropFirst(2).dropLast())) else {
            return nil
        }
        self.version = version
    }

    var text: String { "\"v\(version)\"" }
}
