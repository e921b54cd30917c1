import Bus
import HTTPTypes
import Hummingbird
import Base
import NIOCore
import Schemas

/// The routes of a resource. The rooms of a building are listed and added at `/building/:buildingID/room`. A room is read,
/// updated and deleted at `/room/:roomID`. A resource of the top level, such as a building, is listed and added at `/building`.
///
/// The entity tag of a document is its revision. An update or a deletion with `If-Match` is refused if the document was changed
/// after that revision.
struct ResourceRoutes<Document: Resource>: Sendable {
    /// Refuses a change that the right to write alone does not allow. It gets the stored document, which is `nil` for an addition,
    /// and the new fields, which are `nil` for a deletion.
    typealias WriteRule = @Sendable (_ caller: Principal, _ stored: Document?, _ draft: Document.Draft?) async throws -> Void

    let client: CommandClient
    let read: Requirement<Principal>
    let write: Requirement<Principal>
    let rule: WriteRule?

    /// - Parameters:
    ///   - client: A client of the service that has the documents.
    ///   - read: The right to get and list them.
    ///   - write: The right to add, update and delete them.
    ///   - rule: What a change requires beyond that right; by default nothing.
    init(
        _ type: Document.Type, of client: CommandClient, read: Requirement<Principal> = .read, write: Requirement<Principal>,
        rule: WriteRule? = nil
    ) {
        self.client = client
        self.read = read
        self.write = write
        self.rule = rule
    }

    var routes: [Route] {
        let all = Self.path { ":\($0)ID" }
        let kind = Document.kind
        let one = "/\(kind)/:\(kind)ID"
        return [
            Route(.get, all, right: read, query: ListQuery.self, answer: .ok(ResourcePage<Document>.self), list)
                .documented(
                    "List \(kind) documents", "A page has 50 of them unless `limit` says otherwise.", answerHeaders: [.nextPage]),
            Route(.post, all, right: write, body: Document.Draft.self, answer: .created(Document.self)) { call in
                let draft = try await call.body()
                try await rule?(call.principal, nil, draft)
                let command = AddResource<Document>(in: try parent(of: call), draft)
                let added = try await client.request(command, context: call.caller)
                var answer = Answer(added.document, version: added.revision)
                answer.headers[.location] = "/\(kind)/\(added.document.id)"
                return answer
            }.documented("Add one \(kind)", answerHeaders: [.eTag, .location], problems: [.conflict]),
            Route(.get, one, right: read, answer: .ok(Document.self)) { call in
                let found = try await client.request(GetResource<Document>(identifier(of: call)), context: call.caller)
                return Answer(
                    json: ByteBuffer(bytes: try JSONCoder.encode(found.document)), tag: VersionTag(found.revision).text,
                    for: call.request)
            }.documented(
                "Read one \(kind)", headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)]),
            Route(.put, one, right: write, body: Document.Draft.self, answer: .ok(Document.self)) { call in
                let draft = try await call.body()
                let command = UpdateResource<Document>(
                    try identifier(of: call), draft, unchangedSince: try await basis(of: call, draft))
                let updated = try await call.unlessChanged { try await client.request(command, context: call.caller) }
                return Answer(updated.document, version: updated.revision)
            }.documented("Update one \(kind)", headers: [.ifMatch], answerHeaders: [.eTag], problems: [.conflict]),
            Route(.delete, one, right: write, answer: .noContent) { call in
                let command = DeleteResource<Document>(
                    try identifier(of: call), unchangedSince: try await basis(of: call, nil))
                _ = try await call.unlessChanged { try await client.request(command, context: call.caller) }
                return Answer()
            }.documented("Delete one \(kind)", headers: [.ifMatch], problems: [.conflict]),
        ]
    }

    private struct ListQuery: Decodable, Checked {
        let limit: Int?
        let after: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case limit, after
        }

        func check() throws(SchemaViolation) {
            try ListResources<Document>.limits.check(limit, CodingKeys.limit)
        }
    }

    private func list(_ call: Call<NoBody>, _ query: ListQuery) async throws -> Answer<ResourcePage<Document>> {
        let command = ListResources<Document>(in: try parent(of: call), limit: query.limit ?? 50, after: query.after)
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

    /// The revision that a change is based on: that of `If-Match`, but not later than the one that the rule has checked.
    private func basis(of call: Call<some Sendable>, _ draft: Document.Draft?) async throws -> Revision? {
        let known: Revision? = try call.unchangedSince(of: "the \(Document.kind)")
        guard let rule else { return known }
        let stored = try await client.request(GetResource<Document>(identifier(of: call)), context: call.caller)
        try await rule(call.principal, stored.document, draft)
        if let known, known > stored.revision {
            throw Problem(
                .editConflict, "the \(Document.kind) has revision \(stored.revision), and not yet \(known)",
                field: "If-Match")
        }
        return known ?? stored.revision
    }
}

/// One page of a list. `next` is the path of the next page, which is also sent in the header `Link`. The last page has none.
struct ResourcePage<Document: Resource>: Codable, Sendable {
    let items: [Document]
    let next: String?
}
