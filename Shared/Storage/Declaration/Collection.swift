import MongoDatabase

/// A document of a collection: Codable, with an `id` that is stored as `_id` (`case id = "_id"` among the coding keys).
package protocol StoredDocument: Codable, Identifiable, Sendable where ID: IndexValue {}

/// A collection of documents, declared once for both databases: its name, its indexes, and how documents of earlier schemas
/// become today's.
///
///     enum Devices {
///         static let owner = Field("owner", \Device.owner)
///         static let token = Field("token", \Device.token)
///         static let all = Collection<Device>("device", indexes: [.unique(token), .on(owner)])
///         static let store = StoreDeclaration("devices", all)
///     }
///
/// What a field is called and what it holds may be added to at any time: documents keep fields that a type does not know, so that
/// two versions of a service can work side by side. Where a new version cannot read what an older one wrote, add an upgrade.
/// `Shared/Storage/README.md` shows a whole store.
package struct Collection<Document: StoredDocument>: Sendable {
    package var name: String { form.name }
    let form: CollectionForm
    let indexes: [Index<Document>]

    /// - Parameters:
    ///   - name: The MongoDB collection and the SQLite table: lower-case letters and `_`.
    ///   - upgrades: The first makes of a document of schema 1 one of schema 2, and so on. They run when the store is opened, and
    ///     on what an older instance writes afterwards. Never change one that has been released: append another.
    package init(_ name: String, indexes: [Index<Document>] = [], upgrades: [DocumentUpgrade] = []) {
        precondition(
            !name.isEmpty && name != StoreRegister.name && name.allSatisfy { $0 == "_" || ("a"..."z").contains($0) },
            "\(name) is no name for a collection: lower-case letters and _")
        let forms = indexes.map(\.form)
        precondition(Set(forms.map(\.name)).count == forms.count, "an index of \(name) is declared twice")
        form = CollectionForm(name: name, identifier: .identifier(Document.ID.lowest), indexes: forms, upgrades: upgrades)
        self.indexes = indexes
    }
}

/// Makes a stored document one of the next schema.
///
/// - Throws: Anything, for a document that it cannot make sense of: that is left as it is, and set aside.
package typealias DocumentUpgrade = @Sendable (_ fields: inout StoredFields) throws -> Void

/// A collection as the databases know it.
struct CollectionForm: Sendable {
    let name: String
    /// `_id`.
    let identifier: FieldForm
    let indexes: [IndexForm]
    let upgrades: [DocumentUpgrade]

    /// The schema of the documents that are written.
    var schema: Int64 { Int64(upgrades.count) + 1 }

    /// The field that says when a document expires.
    var expiry: FieldForm? { indexes.first { $0.kind == .expiring }?.fields.first }
}

/// The collections that belong together: one SQLite file, and the unit that transactions span and `msi migrate` moves.
package struct StoreDeclaration: Sendable {
    /// The SQLite file is `NAME.sqlite`.
    package let name: String
    let collections: [CollectionForm]

    package init<each Document>(_ name: String, _ collections: repeat Collection<each Document>) {
        self.name = name
        var forms: [CollectionForm] = []
        repeat forms.append((each collections).form)
        precondition(Set(forms.map(\.name)).count == forms.count, "a collection of \(name) is declared twice")
        self.collections = forms
    }
}
