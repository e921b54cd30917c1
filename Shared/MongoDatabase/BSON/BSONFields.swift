import Schemas

/// The fields of a document, by name.
package struct BSONFields {
    private let scanner: BSONScanner
    private let elements: [BSONScanner.Element]
    /// The prefix of field names in errors: empty, or the path of the nested document and a dot.
    private let path: String

    /// - Throws: ``BSONError`` if the bytes are no document.
    package init(_ document: BSONDocument) throws(BSONError) {
        try self.init(document, path: "")
    }

    private init(_ document: BSONDocument, path: String) throws(BSONError) {
        var scanner = try BSONScanner(document)
        var elements: [BSONScanner.Element] = []
        elements.reserveCapacity(24)
        while let element = try scanner.next() { elements.append(element) }
        self.scanner = scanner
        self.elements = elements
        self.path = path
    }

    /// The value without a conversion; `nil` if there is no such field.
    package subscript(_ key: String) -> BSONValue? {
        get throws(BSONError) {
            for element in elements where scanner.bytes[element.key].elementsEqual(key.utf8) {
                return try scanner.value(of: element)
            }
            return nil
        }
    }

    /// All fields in the order of the document.
    package var all: [(key: String, value: BSONValue)] {
        get throws(BSONError) {
            var all: [(key: String, value: BSONValue)] = []
            all.reserveCapacity(elements.count)
            for element in elements { all.append((key(of: element), try scanner.value(of: element))) }
            return all
        }
    }

    /// The names of all fields, in the order of the document.
    package var keys: [String] { elements.map(key) }

    private func key(of element: BSONScanner.Element) -> String {
        String(decoding: scanner.bytes[element.key], as: UTF8.self)
    }

    /// A required field.
    package func value<Value: BSONConvertible>(_ key: String, as type: Value.Type = Value.self) throws(BSONError) -> Value {
        guard let value: Value = try optional(key) else {
            throw BSONError("field \(path)\(key): expected \(Value.expectedBSON), found nothing")
        }
        return value
    }

    /// A field that may be absent or null.
    package func optional<Value: BSONConvertible>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(BSONError) -> Value? {
        guard let bson = try self[key], bson != .null else { return nil }
        guard let value = Value(bson: bson) else {
            throw BSONError("field \(path)\(key): expected \(Value.expectedBSON), found \(bson.type)")
        }
        return value
    }

    /// The fields of a required nested document.
    package func fields(_ key: String) throws(BSONError) -> BSONFields {
        try BSONFields(value(key), path: path + key + ".")
    }

    /// The fields of a nested document that may be absent or null.
    package func optionalFields(_ key: String) throws(BSONError) -> BSONFields? {
        guard let document = try optional(key, as: BSONDocument.self) else { return nil }
        return try BSONFields(document, path: path + key + ".")
    }

    /// The fields of each document in a required array.
    package func list(_ key: String) throws(BSONError) -> [BSONFields] {
        var list: [BSONFields] = []
        for (index, document) in try value(key, as: [BSONDocument].self).enumerated() {
            list.append(try BSONFields(document, path: "\(path)\(key).\(index)."))
        }
        return list
    }

    /// The fields of each element of an array that may be absent. Each element that is no document becomes an error.
    package func parts(_ key: String) throws(BSONError) -> [Result<BSONFields, BSONError>] {
        guard let bson = try self[key] else { return [] }
        guard case .array(let values) = bson else { throw error(key, "expected an array, found \(bson.type)") }
        return values.enumerated().map { index, value in
            Result { () throws(BSONError) in
                guard case .document(let document) = value else {
                    throw error("\(key).\(index)", "expected a document, found \(value.type)")
                }
                return try BSONFields(document, path: "\(path)\(key).\(index).")
            }
        }
    }

    /// The elements of an array that may be absent or null, as texts. They may be strings, identifiers, numbers and booleans.
    package func texts(_ key: String) throws(BSONError) -> [String] {
        guard let bson = try self[key], bson != .null else { return [] }
        guard case .array(let values) = bson else { throw error(key, "expected an array, found \(bson.type)") }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            switch value {
            case .string(let text): texts.append(text)
            case .objectID(let id): texts.append(id.description)
            case .int32(let number): texts.append(String(number))
            case .int64(let number): texts.append(String(number))
            case .double(let number): texts.append(Int64(exactly: number).map(String.init) ?? String(number))
            case .bool(let value): texts.append(String(value))
            default: throw error("\(key).\(index)", "expected a text or an identifier, found \(value.type)")
            }
        }
        return texts
    }

    /// An error about one field.
    package func error(_ key: String, _ problem: String) -> BSONError {
        BSONError("field \(path)\(key): \(problem)")
    }
}
