import MongoDatabase

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
