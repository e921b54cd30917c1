package import Schemas

/// An index of a collection. Queries are answered by an index, or by `_id`, and by nothing else (``Query``).
package struct Index<Document>: Sendable {
    let form: IndexForm
    /// Checks that the fields are stored under the names that they are declared by.
    let check: @Sendable (Document, StoredFields) -> String?

    /// No two documents have the same values in these fields. A document that lacks one of them, where it is optional, is not
    /// compared with others.
    package static func unique<each Value>(_ fields: repeat Field<Document, each Value>) -> Index {
        Index(.unique, repeat each fields)
    }

    /// For queries by these fields, in this order: any that are compared with `==` first, the ones to sort by last.
    package static func on<each Value>(_ fields: repeat Field<Document, each Value>) -> Index {
        Index(.plain, repeat each fields)
    }

    /// A document is gone once the field's moment has passed: no read returns it, and it is removed within a minute or two.
    /// One without the field stays.
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

/// An index as the databases know it.
struct IndexForm: Hashable, Sendable {
    enum Kind: String {
        case plain = "by"
        case unique, expiring
    }

    let kind: Kind
    let fields: [FieldForm]

    /// Says all of its form: an index of another form has another name.
    var name: String {
        kind.rawValue + " " + fields.map { $0.name + ($0.isOptional && kind == .unique ? "?" : "") }.joined(separator: ",")
    }

    static func isName(_ name: String) -> Bool {
        [Kind.plain, .unique, .expiring].contains { name.hasPrefix($0.rawValue + " ") }
    }
}
