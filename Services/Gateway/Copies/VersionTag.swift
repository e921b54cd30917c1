import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

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

extension Answer {
    /// An answer with its version as `ETag`.
    init(_ value: Value, version: some LosslessStringConvertible) {
        self.init(value, headers: [.eTag: VersionTag(version).text])
    }

    /// A copy of a service's data with its version as `ETag`; 304 if the request's `If-None-Match` names that version.
    ///
    /// - Parameters:
    ///   - json: The document, encoded.
    ///   - tag: The text of its ``VersionTag``.
    init(json: ByteBuffer, tag: String, for request: Request) {
        let headers: HTTPFields = [.eTag: tag]
        self = request.knows(tag) ? .notModified(headers: headers) : Answer(json: json, headers: headers)
    }

    /// The same of a document that many answers share.
    init(shared document: SharedBody, tag: String, for request: Request) {
        let headers: HTTPFields = [.eTag: tag]
        self = request.knows(tag) ? .notModified(headers: headers) : Answer(shared: document, headers: headers)
    }
}

extension Answer where Value == NoContent {
    /// An answer without a body, with its version as `ETag`.
    init(version: some LosslessStringConvertible) {
        self.init(headers: [.eTag: VersionTag(version).text])
    }
}

extension RouteCall {
    /// Makes an edit that may come too late: 412 if its object was changed after the version in `If-Match`. Without a version in
    /// the request, a conflict has another reason, and stays 409.
    ///
    /// - Throws: ``Problem``, or the edit's error.
    func unlessChanged<Reply>(_ edit: () async throws -> Reply) async throws -> Reply {
        let hasVersion = try knownTags.map { $0 != .any } ?? false
        do {
            return try await edit()
        } catch let failure as CommandFailure where failure.status == .conflict && failure.field == nil && hasVersion {
            // A conflict with a field has another reason as well, such as a stored object that cannot be read.
            throw Problem(.editConflict, failure.message, field: "If-Match")
        }
    }

    /// The version in `If-Match`, which the author of an edit saw; the latest one of several. `nil` without the header, and for `*`:
    /// that requires only that the object exists, as every edit does.
    ///
    /// RFC 9110 would not accept a weak tag here. But the gateway's own tags are never weak, and what a proxy has weakened still
    /// names the version.
    ///
    /// - Parameter subject: The versioned data, for the text of the error.
    /// - Throws: ``Problem``; 412 if no tag is one of the data's versions.
    func unchangedSince<Version: LosslessStringConvertible & Comparable>(of subject: String) throws -> Version? {
        switch try knownTags {
        case nil, .any: return nil
        case .list(let tags):
            guard let version = tags.compactMap({ VersionTag<Version>($0.withoutCoding)?.version }).max() else {
                throw Problem(.editConflict, "If-Match: it names no version of \(subject)", field: "If-Match")
            }
            return version
        }
    }

    private var knownTags: EntityTags? {
        get throws(Problem) {
            guard let field = request.headers[.ifMatch] else { return nil }
            guard let tags = EntityTags(field) else {
                throw Problem(
                    .invalidField, "If-Match: expected the ETag of an earlier answer, such as \"v17\" with its quotes, or *",
                    field: "If-Match")
            }
            return tags
        }
    }
}
