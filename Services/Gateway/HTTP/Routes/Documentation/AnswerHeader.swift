import HTTPTypes

/// A header of an answer.
struct AnswerHeader: Sendable {
    let name: HTTPField.Name
    let description: String
    let example: String

    static let requestID = AnswerHeader(
        name: .requestID, description: "The request's id, which is in the services' logs.",
        example: "0aa793834948af74b5ad4da61c7ec718")

    static let retryAfter = AnswerHeader(name: .retryAfter, description: "Seconds to wait before the next try.", example: "2")

    static let eTag = AnswerHeader(name: .eTag, description: "The version of the answer's data.", example: "\"v17\"")

    static let location = AnswerHeader(
        name: .location, description: "The path of the new object.", example: "/message/6b0187feff0dafac2833f431")

    /// `rel="next"`.
    static let nextPage = AnswerHeader(
        name: .link, description: "The path of the next page, if there is one.", example: "</message?limit=50>; rel=\"next\"")

    static let sessionCookie = AnswerHeader(
        name: .setCookie, description: "The cookie of the sign-in.",
        example: "msi_session_8080=…; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax")

    static let idempotencyReplayed = AnswerHeader(
        name: .idempotencyReplayed,
        description: "`true` if an earlier request with the same `Idempotency-Key` has already stored the message.",
        example: "true")
}
