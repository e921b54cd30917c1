import FoundationEssentials
import HTTPTypes
import Hummingbird

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

extension Answer {
    /// An answer with its version as `ETag`.
    init(_ value: Value, version: some LosslessStringConvertible) {
        self.init(value, headers: [.eTag: VersionTag(version).text])
    }

    /// A copy of a service's data with its version as `ETag`; 304 if the request's `If-None-Match` names that version.
    ///
    /// - Parameter json: The document, encoded.
    init(json: Data, version: some LosslessStringConvertible, for request: Request) {
        let headers: HTTPFields = [.eTag: VersionTag(version).text]
        let isKnown = request.headers[.ifNoneMatch] == headers[.eTag]
        self = isKnown ? .notModified(headers: headers) : Answer(json: json, headers: headers)
    }
}

extension Answer where Value == NoContent {
    /// An answer without a body, with its version as `ETag`.
    init(version: some LosslessStringConvertible) {
        self.init(headers: [.eTag: VersionTag(version).text])
    }
}

extension Request {
    /// The version in `If-Match`: what the author of an edit saw. `nil` without the header, and for `*`, which asks for no more
    /// than that the object exists. Every edit asks for that.
    ///
    /// - Parameter subject: Whose version it is, for the error.
    /// - Throws: ``Problem``.
    func unchangedSince<Version: LosslessStringConvertible>(of subject: String) throws -> Version? {
        guard let text = headers[.ifMatch], text != "*" else { return nil }
        guard let tag = VersionTag<Version>(text: text) else {
            throw Problem(.invalidField, "If-Match: expected the ETag of an answer about \(subject)", field: "If-Match")
        }
        return tag.version
    }
}
