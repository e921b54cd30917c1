import FoundationEssentials
import Base
package import Schemas

/// The documents to read from a collection, and their order.
///
/// It needs an index with exactly the fields compared with `==`, followed by those of the order; without either, `_id`
/// serves. Only one further field may be compared: the first of the order. A query without an index is a programming error
/// and ends the process.
package struct Query<Document>: Sendable {
    let conditions: [Condition<Document>]
    let order: Order<Document>

    package init(where conditions: Condition<Document>..., order: Order<Document> = .ascending()) {
        self.conditions = conditions
        self.order = order
    }

    /// Ends the process if no index of a collection serves the query.
    func check(against collection: CollectionForm) {
        let equal = Set(conditions.filter(\.isEquality).map(\.field))
        let ranges = Set(conditions.filter { !$0.isEquality }.map(\.field))
        let isAnswered =
            equal.isEmpty && order.fields.isEmpty
            || collection.indexes.contains { index in
                // A unique index lacks documents without its optional fields.
                let isWhole = index.kind != .unique || !index.fields.contains(where: \.isOptional) || order.fields.isEmpty
                return isWhole && Set(index.fields.prefix(equal.count)) == equal
                    && Array(index.fields.dropFirst(equal.count)) == order.fields
            }
        precondition(
            isAnswered && (ranges.isEmpty || ranges == Set(order.fields.prefix(1))),
            "no index of \(collection.name) has \(equal.map(\.name)) and behind them, in this order, \(order.fields.map(\.name))")
    }
}

/// A query's condition on an indexed field, such as `Device.owner == id` or `Post.time >= start`.
package struct Condition<Document>: Sendable {
    let field: FieldForm
    let predicate: Predicate
    let isEquality: Bool

    fileprivate init(_ field: FieldForm, _ predicate: Predicate, isEquality: Bool = false) {
        self.field = field
        self.predicate = predicate
        self.isEquality = isEquality
    }
}

/// `nil` matches documents without the field.
package func == <Document, Value>(field: Field<Document, Value>, value: Value?) -> Condition<Document> {
    Condition(field.form, .equal(field.form, value?.bson ?? .null), isEquality: true)
}

package func < <Document, Value>(field: Field<Document, Value>, value: Value) -> Condition<Document> {
    Condition(field.form, .less(field.form, value.bson, orEqual: false))
}

package func <= <Document, Value>(field: Field<Document, Value>, value: Value) -> Condition<Document> {
    Condition(field.form, .less(field.form, value.bson, orEqual: true))
}

package func > <Document, Value>(field: Field<Document, Value>, value: Value) -> Condition<Document> {
    Condition(field.form, .greater(field.form, value.bson, orEqual: false))
}

package func >= <Document, Value>(field: Field<Document, Value>, value: Value) -> Condition<Document> {
    Condition(field.form, .greater(field.form, value.bson, orEqual: true))
}

/// A condition without its Swift types, for the databases. An absent field is null. Null is neither less nor
/// greater than any value.
indirect enum Predicate: Sendable {
    case equal(FieldForm, BSONValue)
    case among(FieldForm, [ObjectID])
    case isPresent(FieldForm)
    case less(FieldForm, BSONValue, orEqual: Bool)
    case greater(FieldForm, BSONValue, orEqual: Bool)
    case all([Predicate])
    case any([Predicate])
}

/// The order of a query's documents: by these fields, then by `_id`. Documents without a field sort first.
package struct Order<Document>: Sendable {
    let fields: [FieldForm]
    let isDescending: Bool

    package static func ascending<each Value>(_ fields: repeat Field<Document, each Value>) -> Order {
        Order(false, repeat each fields)
    }

    package static func descending<each Value>(_ fields: repeat Field<Document, each Value>) -> Order {
        Order(true, repeat each fields)
    }

    private init<each Value>(_ isDescending: Bool, _ fields: repeat Field<Document, each Value>) {
        var forms: [FieldForm] = []
        repeat forms.append((each fields).form)
        self.fields = forms
        self.isDescending = isDescending
    }
}

/// A page of a query's documents.
package struct Page<Document: StoredDocument>: Sendable {
    package let documents: [Stored<Document>]
    /// Where the next page begins; `nil` after the last one.
    package let next: Cursor?
}

/// A position between two documents in the order of a query. It stays valid if documents change or are removed.
///
/// As text and in JSON it is unpadded URL-safe Base64, opaque to callers.
package struct Cursor: Hashable, Sendable {
    /// The last document's values in the fields of the order.
    let values: [BSONValue]
}

extension Cursor: LosslessStringConvertible {
    package init?(_ text: String) {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), let document = try? BSONDocument(bytes: Array(data)),
            case .array(let values)? = try? BSONFields(document)["v"], values.allSatisfy(\.isScalar)
        else { return nil }
        self.values = values
    }

    package var description: String {
        let document: BSONDocument = ["v": .array(values)]
        let base64 = document.withUnsafeBytes { Data($0) }.base64EncodedString()
        return String(base64.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
    }
}

extension Cursor: TextCodable {
    package static var expected: String { "the cursor of a page" }
}

extension Cursor {
    /// The cursor that a caller sends back; `nil` for the first page.
    ///
    /// - Throws: ``CommandFailure`` with `invalid` for a text that is no cursor.
    package init?(after text: String?) throws(CommandFailure) {
        guard let text else { return nil }
        guard let cursor = Cursor(text) else {
            throw CommandFailure(.invalid, "after: expected the \"next\" of another page", field: "after")
        }
        self = cursor
    }
}

extension Cursor {
    /// The place behind a document of a query that is sorted by `_id` alone. There need not be such a document: with the beginning of some
    /// identifiers, these follow.
    package init(afterID id: some IndexValue) {
        values = [id.bson]
    }
}

extension BSONValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .objectID, .string, .int32, .int64, .double, .bool, .null: true
        case .array, .document, .foreign: false
        }
    }
}

/// A part of a collection, in the order of the identifiers.
package struct ScannedDocuments<Document: StoredDocument>: Sendable {
    package let documents: [Stored<Document>]
    /// The identifiers of the documents that cannot be read.
    package let unreadable: [String]
    /// Where the next part begins; `nil` after the last one.
    package let next: Cursor?
}

extension BSONValue {
    /// An identifier as text, up to a bounded length.
    var identifierText: String {
        switch self {
        case .objectID(let id): id.description
        case .string(let text): String(text.prefix(100))
        case .int32(let number): "\(number)"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool, .null, .array, .document, .foreign: "a value of type \(type)"
        }
    }
}

/// A query without its Swift types, for the databases.
struct Selection: Sendable {
    let collection: CollectionForm
    let predicate: Predicate
    /// Ends with `_id`.
    let order: [FieldForm]
    let isDescending: Bool
    var skip = 0
    let limit: Int

    /// - Parameters:
    ///   - cursor: The document after which to begin.
    ///   - now: Documents that have expired by this time are left out.
    /// - Throws: ``CommandFailure`` with status `invalid` for the cursor of another query.
    init<Document>(
        _ query: Query<Document>, of collection: CollectionForm, after cursor: Cursor?, limit: Int, now: UnixMilliseconds
    ) throws(CommandFailure) {
        query.check(against: collection)
        order = query.order.fields + [collection.identifier]
        isDescending = query.order.isDescending
        var predicates = query.conditions.map(\.predicate) + collection.unexpired(at: now)
        if let cursor {
            guard cursor.values.count == order.count else {
                throw CommandFailure(.invalid, "after: the cursor belongs to another list", field: "after")
            }
            predicates += Self.beyond(Array(zip(order, cursor.values)), isDescending: isDescending)
        }
        predicate = .all(predicates)
        self.collection = collection
        self.limit = limit
    }

    /// One document.
    init(_ id: BSONValue, of collection: CollectionForm, now: UnixMilliseconds) {
        self.collection = collection
        predicate = .all([.equal(collection.identifier, id)] + collection.unexpired(at: now))
        order = []
        isDescending = false
        limit = 1
    }

    /// Several documents.
    init(_ ids: [ObjectID], of collection: CollectionForm, now: UnixMilliseconds) {
        self.collection = collection
        predicate = .all([.among(collection.identifier, ids)] + collection.unexpired(at: now))
        order = []
        isDescending = false
        limit = ids.count
    }

    /// Any documents.
    init(where predicate: Predicate, of collection: CollectionForm, limit: Int) {
        self.collection = collection
        self.predicate = predicate
        order = []
        isDescending = false
        self.limit = limit
    }

    /// Matches the documents after a place in the order: later in the first field; or equal in it and later in the
    /// second; and so on.
    private static func beyond(_ place: [(field: FieldForm, value: BSONValue)], isDescending: Bool) -> [Predicate] {
        let later = place.indices.compactMap { index -> Predicate? in
            guard let beyond = beyond(place[index].field, place[index].value, isDescending) else { return nil }
            return .all(place[..<index].map { .equal($0.field, $0.value) } + [beyond])
        }
        guard let (field, value) = place.first, place.count > 1, value != .null else { return [.any(later)] }
        // The database then starts in the index at the place. Null is in no range.
        if isDescending { return field.isOptional ? [.any(later)] : [.less(field, value, orEqual: true), .any(later)] }
        return [.greater(field, value, orEqual: true), .any(later)]
    }

    /// `nil` if no document can be after it.
    private static func beyond(_ field: FieldForm, _ value: BSONValue, _ isDescending: Bool) -> Predicate? {
        guard isDescending else {
            return value == .null ? .isPresent(field) : .greater(field, value, orEqual: false)
        }
        if value == .null { return nil }
        let less = Predicate.less(field, value, orEqual: false)
        return field.isOptional ? .any([less, .equal(field, .null)]) : less
    }
}

extension CollectionForm {
    /// Matches documents that have not expired.
    func unexpired(at now: UnixMilliseconds) -> [Predicate] {
        guard let expiry else { return [] }
        return [.any([.greater(expiry, now.bson, orEqual: false), .equal(expiry, .null)])]
    }

    /// Matches expired documents.
    func expired(at now: UnixMilliseconds) -> Predicate? {
        expiry.map { .less($0, now.bson, orEqual: true) }
    }
}
