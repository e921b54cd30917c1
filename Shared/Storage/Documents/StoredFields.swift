package import MongoDatabase

/// The fields of a stored document, in their order. Upgrades edit them.
package struct StoredFields: Sendable {
    private var fields: [(key: String, value: BSONValue)]

    /// - Throws: ``BSONError`` if the bytes are not a document.
    init(_ document: BSONDocument) throws(BSONError) {
        fields = try BSONFields(document).all
    }

    var document: BSONDocument { BSONDocument(fields.lazy.map { ($0.key, $0.value) }) }

    var keys: [String] { fields.map(\.key) }

    /// Setting `nil` removes the field.
    package subscript(_ key: String) -> BSONValue? {
        get { fields.first { $0.key == key }?.value }
        set {
            let index = fields.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Renames a field, if it is there.
    package mutating func rename(_ key: String, to name: String) {
        guard let value = self[key] else { return }
        self[key] = nil
        self[name] = value
    }

    /// Null if the field is absent or an inner document cannot be read.
    subscript(_ field: FieldForm) -> BSONValue {
        (try? field.value(in: document)) ?? .null
    }
}
