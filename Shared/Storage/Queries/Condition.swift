import MongoDatabase

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
    case isPresent(FieldForm)
    case less(FieldForm, BSONValue, orEqual: Bool)
    case greater(FieldForm, BSONValue, orEqual: Bool)
    case all([Predicate])
    case any([Predicate])
}
