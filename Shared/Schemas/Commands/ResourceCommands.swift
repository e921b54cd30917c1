package import Base

/// `room.add`: a new document. The service makes its id.
package struct AddResource<Document: Resource>: Command {
    package static var name: String { Document.kind + ".add" }
    package typealias Reply = Revised<Document>

    package let parent: Document.Parent.ID
    package let draft: Document.Draft

    package init(in parent: Document.Parent.ID, _ draft: Document.Draft) {
        self.parent = parent
        self.draft = draft
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case parent, draft
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        parent = try container.decode(parent: Document.Parent.self, forKey: .parent)
        draft = try container.decode(Document.Draft.self, forKey: .draft)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(Document.Parent.objectID(parent), forKey: .parent)
        try container.encode(draft, forKey: .draft)
    }
}

/// `room.update`: replaces the fields of the draft.
package struct UpdateResource<Document: Resource>: Command {
    package static var name: String { Document.kind + ".update" }
    package typealias Reply = Revised<Document>

    package let id: ObjectID
    package let draft: Document.Draft
    /// The revision that the editor has read. If the document was changed after it, the update fails with a `conflict` that
    /// names no field. Without this revision the update overwrites later changes.
    package let unchangedSince: Revision?

    package init(_ id: ObjectID, _ draft: Document.Draft, unchangedSince: Revision? = nil) {
        self.id = id
        self.draft = draft
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, draft
        case unchangedSince = "unchanged_since"
    }
}

/// `room.delete`: removes a document. `unchangedSince` is as in ``UpdateResource``.
package struct DeleteResource<Document: Resource>: Command {
    package static var name: String { Document.kind + ".delete" }
    package typealias Reply = Done

    package let id: ObjectID
    package let unchangedSince: Revision?

    package init(_ id: ObjectID, unchangedSince: Revision? = nil) {
        self.id = id
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case unchangedSince = "unchanged_since"
    }
}

extension KeyedDecodingContainer {
    /// The parent in a command. A resource of the top level has none.
    func decode<Parent: ResourceParent>(parent: Parent.Type, forKey key: Key) throws -> Parent.ID {
        if Parent.self == TopLevel.self, contains(key) {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "not a field of this object, whose document belongs to no other")
        }
        return try Parent.identifier { _ in try decode(ObjectID.self, forKey: key) }
    }
}

/// `room.get`: one document.
package struct GetResource<Document: Resource>: Command {
    package static var name: String { Document.kind + ".get" }
    package typealias Reply = Revised<Document>

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

/// `room.list`: one page of a parent's documents.
package struct ListResources<Document: Resource>: Command, Checked {
    package static var name: String { Document.kind + ".list" }

    package struct Reply: Codable, Sendable {
        package let documents: [Document]
        /// Where the next page begins; absent on the last one.
        package let next: String?

        package init(documents: [Document], next: String?) {
            self.documents = documents
            self.next = next
        }
    }

    /// The valid range of ``limit``.
    package static var limits: ClosedRange<Int> { 1...200 }

    package let parent: Document.Parent.ID
    /// The maximum number of documents of the page.
    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: String?

    package init(in parent: Document.Parent.ID, limit: Int, after: String? = nil) {
        self.parent = parent
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case parent, limit, after
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        parent = try container.decode(parent: Document.Parent.self, forKey: .parent)
        limit = try container.decode(Int.self, forKey: .limit)
        after = try container.decodeIfPresent(String.self, forKey: .after)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(Document.Parent.objectID(parent), forKey: .parent)
        try container.encode(limit, forKey: .limit)
        try container.encodeIfPresent(after, forKey: .after)
    }

    package func check() throws(SchemaViolation) {
        try Self.limits.check(limit, CodingKeys.limit)
    }
}
