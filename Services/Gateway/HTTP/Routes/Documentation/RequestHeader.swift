import HTTPTypes
import JSON
import Schemas

/// A header that a route reads.
struct RequestHeader: Sendable {
    let name: HTTPField.Name
    /// The JSON Schema of its value.
    let schema: JSONValue
    let description: String
    let example: String
    /// The problems that only requests with this header get.
    let problems: [ProblemKind]

    /// The version that the author of an edit saw.
    static let ifMatch = seenVersion("v[0-9]{1,18}")

    /// As ``ifMatch``, for versions whose entity tags have another form.
    ///
    /// - Parameter version: A regular expression for the text between the quotes.
    static func seenVersion(_ version: String) -> RequestHeader {
        RequestHeader(
            // One pattern: generators of clients do not know what to do with `anyOf` in a header.
            name: .ifMatch, schema: ["type": "string", "pattern": .string(#"^(\*|(W/)?"\#(version)")$"#)],
            description: "The `ETag` of an earlier answer, or `*`. The request is refused with 412 if the object was changed "
                + "after it, or never had this version.",
            example: "\"v17\"", problems: [.changedMeanwhile])
    }

    /// The version that the caller has already.
    static let ifNoneMatch = RequestHeader(
        name: .ifNoneMatch, schema: ["type": "string"],
        description: "The `ETag`s of earlier answers, or `*`. The answer is 304 if nothing has changed.", example: "\"v17\"",
        problems: [])

    /// Where a stream of events resumes.
    static let lastEventID = RequestHeader(
        name: .lastEventID, schema: ["type": "string"],
        description: "The last `id` that the client has received. A browser sends it by itself.",
        example: "a17.6b0187feff0dafac2833f431-42", problems: [])

    /// The key of a POST and its retries.
    static let idempotencyKey = RequestHeader(
        name: .idempotencyKey,
        schema: ["type": "string", "minLength": 1, "maxLength": .integer(TextLimits.idempotencyKey.max)],
        description: "A text of your choice, a new one for each message. A retry with the same key gets the first answer.",
        example: "2f1c7a52-rain-warning", problems: [.idempotencyKeyReused])
}
