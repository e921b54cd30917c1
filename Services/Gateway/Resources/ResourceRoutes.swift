import CommandBus
import HTTPTypes
import Hummingbird
import JSON
import Schemas

/// The routes of a resource. The rooms of a building are listed and added at `/building/:buildingID/room`. A room is read,
/// updated and deleted at `/room/:roomID`. A resource of the top level, such as a building, is listed and added at `/building`.
///
/// The entity tag of a document is its revision. An update or a deletion with `If-Match` is refused if the document was changed
/// after that revision.
struct ResourceRoutes<Document: Resource>: Sendable {
    let client: CommandClient
    let read: Right
    let write: Right

    /// - Parameters:
    ///   - client: A client of the service that has the documents.
    ///   - read: The right to get and list them.
    ///   - write: The right to add, update and delete them.
    init(_ type: Document.Type, of client: CommandClient, read: Right = .read, write: Right) {
        self.client = client
        self.read = read
        self.write = write
    }

    var routes: [Route] {
        let all = Self.path { ":\($0)ID" }
        let one = "/\(Document.kind)/:\(Document.kind)ID"
        return [
            Route(.get, all, right: read, answer: .ok(ResourcePage<Document>.self), list),
            Route(.post, all, right: write, body: Document.Draft.self, answer: .created(Document.self)) { call in
                let command = AddResource<Document>(in: try parent(of: call), try await call.body())
                let added = try await client.request(command, context: call.caller)
                var answer = Answer(added.document, version: added.revision)
                answer.headers[.location] = "/\(Document.kind)/\(added.document.id)"
                return answer
            },
            Route(.get, one, right: read, answer: .ok(Document.self)) { call in
                let found = try await client.request(GetResource<Document>(identifier(of: call)), context: call.caller)
                return Answer(json: try JSONCoder.encode(found.document), version: found.revision, for: call.request)
            },
            Route(.put, one, right: write, body: Document.Draft.self, answer: .ok(Document.self)) { call in
                let command = UpdateResource<Document>(
                    try identifier(of: call), try await call.body(), unchangedSince: try unchangedSince(of: call))
                let updated = try await call.unlessChanged { try await client.request(command, context: call.caller) }
                return Answer(updated.document, version: updated.revision)
            },
            Route(.delete, one, right: write, answer: .noContent) { call in
                let command = DeleteResource<Document>(try identifier(of: call), unchangedSince: try unchangedSince(of: call))
                _ = try await call.unlessChanged { try await client.request(command, context: call.caller) }
                return Answer()
            },
        ]
    }

    private func list(_ call: Call<NoBody>) async throws -> Answer<ResourcePage<Document>> {
        let query = try QueryParameters(of: call.request, known: ["limit", "after"])
        let limits = ListResources<Document>.limits
        let limit = try query.value("limit", expected: "an integer from \(limits.lowerBound) to \(limits.upperBound)") { text in
            Int(text).flatMap { limits.contains($0) ? $0 : nil }
        }
        let command = ListResources<Document>(
            in: try parent(of: call), limit: limit ?? 50, after: try query.value("after", expected: "a text") { $0 })
        let page = try await client.request(command, context: call.caller)
        let path = Self.path { _ in Document.Parent.objectID(command.parent)?.description ?? "" }
        let next = page.next.map { "\(path)?limit=\(command.limit)&after=\($0)" }
        return Answer(
            ResourcePage(items: page.documents, next: next), headers: next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:])
    }

    /// The path of the documents of a parent.
    ///
    /// - Parameter parentID: Returns the parent's id, or the path's parameter for it. Gets the parent's kind.
    private static func path(_ parentID: (_ kind: String) -> String) -> String {
        guard let parent = Document.Parent.self as? any Resource.Type else { return "/\(Document.kind)" }
        return "/\(parent.kind)/\(parentID(parent.kind))/\(Document.kind)"
    }

    private func parent(of call: Call<some Sendable>) throws -> Document.Parent.ID {
        try Document.Parent.identifier { try call.identifier($0 + "ID") }
    }

    private func identifier(of call: Call<some Sendable>) throws -> ObjectID {
        try call.identifier(Document.kind + "ID")
    }

    private func unchangedSince(of call: Call<some Sendable>) throws -> Revision? {
        try call.unchangedSince(of: "the \(Document.kind)")
    }
}

/// One page of a list. `next` is the path of the next page, which is also sent in the header `Link`. The last page has none.
struct ResourcePage<Document: Resource>: Encodable, Sendable {
    let items: [Document]
    let next: String?
}
