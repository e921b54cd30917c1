package import Schemas

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
