import MongoDatabase

/// A document of a collection. It is Codable, and its `id` is stored as `_id` (`case id = "_id"` among the coding keys).
package protocol StoredDocument: Codable, Identifiable, Sendable where ID: IndexValue {}

/// A collection of documents, declared once for both databases: its name, its indexes, and the upgrades of documents
/// of earlier schemas.
///
///     enum Devices {
///         static let owner = Field("owner", \Device.owner)
///         static let token = Field("token", \Device.token)
///         static let all = Collection<Device>("device", indexes: [.unique(token), .on(owner)])
///         static let store = StoreDeclaration("devices", all)
///     }
///
/// Optional fields can be added at any time: documents keep fields that a type does not know, so two versions of a service can
/// work side by side. If a new version cannot read the documents of an older one, add an upgrade. `Shared/Storage/README.md`
/// shows a whole store.
package struct Collection<Document: StoredDocument>: Sendable {
    package var name: String { form.name }
    let form: CollectionForm
    let indexes: [Index<Document>]

    /// - Parameters:
    ///   - name: The MongoDB collection and the SQLite table: lower-case letters and `_`.
    ///   - upgrades: The first turns a document of schema 1 into one of schema 2, and so on. They run when the store is opened,
    ///     and on documents that an older instance writes afterwards. Never change a released one: append another.
    ///   - reserve: Which writes succeed while only the reserve of the disk is left. The others are `storage_full`.
    package init(
        _ name: String, indexes: [Index<Document>] = [], upgrades: [DocumentUpgrade] = [], reserve: ReserveUse = .nothing
    ) {
        precondition(
            !name.isEmpty && name != StoreRegister.name && name.allSatisfy { $0 == "_" || ("a"..."z").contains($0) },
            "\(name) is no name for a collection: lower-case letters and _")
        let forms = indexes.map(\.form)
        precondition(Set(forms.map(\.name)).count == forms.count, "an index of \(name) is declared twice")
        form = CollectionForm(
            name: name, identifier: .identifier(Document.ID.lowest), indexes: forms, upgrades: upgrades, reserve: reserve)
        self.indexes = indexes
    }
}

/// Turns a stored document into one of the next schema.
///
/// - Throws: Any error, for a document that it cannot upgrade. The document stays unchanged and is reported as unreadable.
package typealias DocumentUpgrade = @Sendable (_ fields: inout StoredFields) throws -> Void

/// A collection without its Swift type, for the databases.
struct CollectionForm: Sendable {
    let name: String
    /// `_id`.
    let identifier: FieldForm
    let indexes: [IndexForm]
    let upgrades: [DocumentUpgrade]
    var reserve = ReserveUse.nothing

    /// The schema of newly written documents.
    var schema: Int64 { Int64(upgrades.count) + 1 }

    /// The field with a document's expiry.
    var expiry: FieldForm? { indexes.first { $0.kind == .expiring }?.fields.first }
}

/// Collections that belong together: they share a SQLite file, transactions span them, and `msi migrate` moves them together.
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
