import MongoDatabase
import Schemas

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
