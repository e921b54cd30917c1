import HTTPTypes
import Hummingbird
import Schemas

/// The cube's version as an entity tag: `"v17"`.
struct CubeTag {
    let version: CubeVersion

    init(version: CubeVersion) {
        self.version = version
    }

    init?(_ text: String) {
        guard text.hasPrefix("\"v"), text.hasSuffix("\""), let version = CubeVersion(text.dropFirst(2).dropLast()) else {
            return nil
        }
        self.version = version
    }

    var text: String { "\"v\(version)\"" }
}

extension Request {
    /// The version of the cube that the editor has read: `If-Match`. `*` only requires that the object exists, as every edit
    /// does.
    var unchangedSince: CubeVersion? {
        get throws {
            guard let text = headers[.ifMatch], text != "*" else { return nil }
            guard let tag = CubeTag(text) else {
                throw Problem(.invalidField, "If-Match: expected the ETag of an answer about the cube", field: "If-Match")
            }
            return tag.version
        }
    }
}
