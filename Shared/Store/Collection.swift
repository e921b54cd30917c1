import Base
package import Schemas

/// A document of a collection. It is Codable, and its `id` is stored as `_id` (`case id = "_id"` among the coding keys).
package protocol StoredDocument: Codable, Identifiable, Sendable where ID: IndexValue {
    /// Why the decoder has left out parts of the document; `nil` if it has read everything. The log says so, as of unreadable documents.
    /// Elements of arrays that are left out stay in the database when the document is changed, if all other elements have an `id`.
    var omission: String? { get }
}

extension StoredDocument {
    package var omission: String? { nil }
}

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
/// work side by side. If a new version cannot read the documents of an older one, add an upgrade. `Shared/Store/README.md`
/// shows a whole store.
package struct Collection<Document: StoredDocument>: Sendable {
    package var name: String { form.name }
    let form: CollectionForm
    let indexes: [Index<Document>]

    /// - Parameters:
    ///   - name: The MongoDB collection and the SQLite table: lower-case letters and `_`.
    ///   - upgrades: The first turns a document of schema 1 into one of schema 2, and so on. They run when the store is opened,
    ///     and on documents that an older instance writes afterwards. Never change a released one: append another.
    ///   - readable: The schemas whose documents the type decodes, if they include the one that the next version writes; `nil` for those
    ///     up to the last upgrade. Documents of the next schema keep it when they are changed. Their type finds the number in `_schema`,
    ///     and writes their fields in the form of that schema.
    ///   - reserve: Which writes succeed while only the reserve of the disk is left. The others are `storage_full`.
    ///   - kind: What a document is, for errors and the log, if the name does not say it.
    ///   - hasRevisions: Whether documents have ``Envelope/revision``. Without it they are changed in transactions only.
    package init(
        _ name: String, indexes: [Index<Document>] = [], upgrades: [DocumentUpgrade] = [], readable: ClosedRange<Int>? = nil,
        reserve: ReserveUse = .nothing, kind: String? = nil, hasRevisions: Bool = true
    ) {
        precondition(
            !name.isEmpty && name != StoreRegister.name && name.allSatisfy { $0 == "_" || ("a"..."z").contains($0) },
            "\(name) is no name for a collection: lower-case letters and _")
        let forms = indexes.map(\.form)
        precondition(Set(forms.map(\.name)).count == forms.count, "an index of \(name) is declared twice")
        form = CollectionForm(
            name: name, identifier: .identifier(Document.ID.lowest), indexes: forms, upgrades: upgrades, readable: readable,
            reserve: reserve, kind: kind ?? name, hasRevisions: hasRevisions)
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
    /// The schemas of documents. New ones get the number that is written.
    let formats: FormatVersions
    let reserve: ReserveUse
    /// What a document is, for errors and the log.
    let kind: String
    let hasRevisions: Bool

    init(
        name: String, identifier: FieldForm, indexes: [IndexForm] = [], upgrades: [DocumentUpgrade] = [],
        readable: ClosedRange<Int>? = nil, reserve: ReserveUse = .nothing, kind: String? = nil, hasRevisions: Bool = true
    ) {
        self.name = name
        self.identifier = identifier
        self.indexes = indexes
        self.upgrades = upgrades
        let written = upgrades.count + 1
        formats = FormatVersions(written: written, readable: readable ?? 1...written)
        self.reserve = reserve
        self.kind = kind ?? name
        self.hasRevisions = hasRevisions
    }

    /// The schema of newly written documents.
    var schema: Int64 { Int64(formats.written) }

    /// The field with a document's expiry.
    var expiry: FieldForm? { indexes.first { $0.kind == .expiring }?.fields.first }
}

/// Collections that belong together: they share a SQLite file, transactions span them, and `msi migrate` moves them together.
package struct StoreDeclaration: Sendable {
    /// The SQLite file is `NAME.sqlite`.
    package let name: String
    let collections: [CollectionForm]
    /// The queue of an audited store; it is among the ``collections``.
    let audit: AuditCollections?
    /// Whether SQLite overwrites what is removed.
    let erases: Bool

    /// - Parameters:
    ///   - audited: Whether the store has an ``AuditQueue`` for entries about its changes.
    ///   - erases: Whether SQLite overwrites what is removed, as ``Storage/removeTraces()`` needs it.
    package init<each Document>(
        _ name: String, _ collections: repeat Collection<each Document>, audited: Bool = false, erases: Bool = false
    ) {
        self.name = name
        self.erases = erases
        audit = audited ? AuditCollections(of: name) : nil
        var forms: [CollectionForm] = []
        repeat forms.append((each collections).form)
        if let audit { forms += [audit.pending.form, audit.refused.form] }
        precondition(Set(forms.map(\.name)).count == forms.count, "a collection of \(name) is declared twice")
        self.collections = forms
    }
}

/// An index of a collection. Every query needs one, or `_id` (see ``Query``).
package struct Index<Document>: Sendable {
    let form: IndexForm
    /// Checks that the fields are stored under their declared names.
    let check: @Sendable (Document, StoredFields) -> String?

    /// No two documents have the same values in these fields. Documents that lack an optional one are exempt.
    package static func unique<each Value>(_ fields: repeat Field<Document, each Value>) -> Index {
        Index(.unique, repeat each fields)
    }

    /// For queries by these fields, in this order: first those compared with `==`, last those to sort by.
    package static func on<each Value>(_ fields: repeat Field<Document, each Value>) -> Index {
        Index(.plain, repeat each fields)
    }

    /// A document expires at the time in the field: no read returns it any more, and it is removed within a minute or two.
    /// Documents without the field stay.
    package static func expiring(_ field: Field<Document, UnixMilliseconds>) -> Index {
        Index(.expiring, field)
    }

    private init<each Value>(_ kind: IndexForm.Kind, _ fields: repeat Field<Document, each Value>) {
        var forms: [FieldForm] = []
        repeat forms.append((each fields).form)
        form = IndexForm(kind: kind, fields: forms)
        let checked = (repeat each fields)
        check = { document, stored in
            var misplaced: String?
            for field in repeat each checked {
                if stored[field.form] != field.bson(of: document) { misplaced = field.form.name }
            }
            return misplaced
        }
    }
}

/// An index without its Swift types, for the databases.
struct IndexForm: Hashable, Sendable {
    enum Kind: String {
        case plain = "by"
        case unique, expiring
    }

    let kind: Kind
    let fields: [FieldForm]

    /// Contains the whole form: an index of another form has another name.
    var name: String {
        kind.rawValue + " " + fields.map { $0.name + ($0.isOptional && kind == .unique ? "?" : "") }.joined(separator: ",")
    }

    static func isName(_ name: String) -> Bool {
        [Kind.plain, .unique, .expiring].contains { name.hasPrefix($0.rawValue + " ") }
    }
}

/// Which writes of a collection may use the reserve of the disk. Deletions, and changes that make no document larger, always may.
///
/// Only SQLite keeps a reserve. MongoDB stores everything until its disk is full.
package enum ReserveUse: Sendable {
    case nothing
    /// Changes of documents, but no new ones.
    case changes
    case everything
}
