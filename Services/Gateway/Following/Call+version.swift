import HTTPTypes
import Hummingbird
import Schemas

extension Call {
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
            throw Problem(.changedMeanwhile, failure.message, field: "If-Match")
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
                throw Problem(.changedMeanwhile, "If-Match: it names no version of \(subject)", field: "If-Match")
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
