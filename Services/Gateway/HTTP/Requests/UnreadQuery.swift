import Hummingbird

/// A query that is read only when its text is not known: the reading costs more than an answer that is remembered.
struct UnreadQuery<Query: Route.Document> {
    let request: Request

    /// As the client has sent it; empty if there is none.
    var text: String { request.uri.query ?? "" }

    /// - Throws: ``SchemaViolation``.
    func read() throws -> Query { try QueryDecoder.decode(Query.self, from: request) }
}
