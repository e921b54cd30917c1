import MongoDatabase

/// What to read of a collection, in which order.
///
/// An index has to answer it, which has exactly the fields that are compared with `==` and behind them those of the order; without any of
/// both it is `_id`. At most one more field may be compared: the first of the order. A query that no index of the collection
/// answers is a fault of the program, and ends it.
package struct Query<Document>: Sendable {
    let conditions: [Condition<Document>]
    let order: Order<Document>

    package init(where conditions: Condition<Document>..., order: Order<Document> = .ascending()) {
        self.conditions = conditions
        self.order = order
    }

    /// Ends the process where no index of a collection answers the query.
    func check(against collection: CollectionForm) {
        let equal = Set(conditions.filter(\.isEquality).map(\.field))
        let ranges = Set(conditions.filter { !$0.isEquality }.map(\.field))
        let isAnswered =
            equal.isEmpty && order.fields.isEmpty
            || collection.indexes.contains { index in
                // One that lacks documents can only find those that it has.
                let isWhole = index.kind != .unique || !index.fields.contains(where: \.isOptional) || order.fields.isEmpty
                return isWhole && Set(index.fields.prefix(equal.count)) == equal
                    && Array(index.fields.dropFirst(equal.count)) == order.fields
            }
        precondition(
            isAnswered && (ranges.isEmpty || ranges == Set(order.fields.prefix(1))),
            "no index of \(collection.name) has \(equal.map(\.name)) and behind them, in this order, \(order.fields.map(\.name))")
    }
}
