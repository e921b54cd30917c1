import HTTPTypes
import Hummingbird
import Schemas

extension Call {
    /// Makes an edit that may come too late: 412 if its object was changed after the version in `If-Match`. Without a version in
    /// the request, a conflict has another reason, and stays 409.
    ///
    /// - Throws: ``Problem``, or the edit's error.
    func unlessChanged<Reply>(_ edit: () async throws -> Reply) async throws -> Reply {
        do {
            return try await edit()
        } catch let failure as CommandFailure
            where failure.status == .conflict && failure.field == nil && knownVersion != nil
        {
            // A conflict with a field has another reason as well, such as a stored object that cannot be read.
            throw Problem(.changedMeanwhile, failure.message, field: "If-Match")
        }
    }

    /// The version in `If-Match`, which the author of an edit saw. `nil` without the header, and for `*`: that requires only that
    /// the object exists, as every edit does.
    ///
    /// - Parameter subject: The versioned data, for the text of the error.
    /// - Throws: ``Problem``.
    func unchangedSince<Version: LosslessStringConvertible>(of subject: String) throws -> Version? {
        guard let text = knownVersion else { return nil }
        guard let tag = VersionTag<Version>(text: text) else {
            throw Problem(.invalidField, "If-Match: expected the ETag of an answer about \(subject)", field: "If-Match")
        }
        return tag.version
    }

    private var knownVersion: String? { request.headers[.ifMatch].flatMap { $0 == "*" ? nil : $0 } }
}
