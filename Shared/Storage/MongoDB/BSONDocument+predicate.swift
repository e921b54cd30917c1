import MongoDatabase

extension BSONDocument {
    /// A predicate as a filter.
    init(_ predicate: Predicate) {
        switch predicate {
        case .equal(let field, let value): self = BSONDocument([(field.name, value)])
        case .isPresent(let field): self = BSONDocument([(field.name, .document(["$ne": .null]))])
        case .less(let field, let value, let orEqual):
            self = BSONDocument([(field.name, .document(BSONDocument([(orEqual ? "$lte" : "$lt", value)])))])
        case .greater(let field, let value, let orEqual):
            self = BSONDocument([(field.name, .document(BSONDocument([(orEqual ? "$gte" : "$gt", value)])))])
        case .all(let predicates):
            self = predicates.isEmpty ? [:] : ["$and": .array(predicates.map { .document(BSONDocument($0)) })]
        case .any(let predicates):
            // An empty "$or" is refused.
            self = predicates.isEmpty ? ["$nor": [[:]]] : ["$or": .array(predicates.map { .document(BSONDocument($0)) })]
        }
    }
}
