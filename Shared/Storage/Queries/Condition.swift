import MongoDatabase

/// What a query asks of an indexed field: `Device.owner == id`, `Post.time >= start`.
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

/// `nil` asks for documents without the field.
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

/// A condition as the databases know it. An absent field is null; null is less than nothing and greater than nothing.
indirect enum Predicate: Sendable {
    case equal(FieldForm, BSONValue)
    case isPresent(FieldForm)
    case less(FieldForm, BSONValue, orEqual: Bool)
    case greater(FieldForm, BSONValue, orEqual: Bool)
    case all([Predicate])
    case any([Predicate])
}
