package import JSON

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
