import JSON

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
