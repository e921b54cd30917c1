import HTTPTypes
import Hummingbird
import NIOCore

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
}

extension Answer where Value == NoContent {
    /// An answer without a body, with its version as `ETag`.
    init(version: some LosslessStringConvertible) {
        self.init(headers: [.eTag: VersionTag(version).text])
    }
}
