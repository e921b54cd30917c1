import Schemas

/// A MongoDB document as its bytes (bsonspec.org), made from fields or read from the database.
///
/// A nested document shares the bytes of the outer one.
package struct BSONDocument: Hashable, Sendable {
    /// The complete document: length, elements, final zero.
    let bytes: ArraySlice<UInt8>

    /// Takes bytes without a check. The reader checks them.
    init(unchecked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Takes bytes of another program.
    ///
    /// - Throws: ``BSONError`` if they are not a document.
    package init(bytes: [UInt8]) throws(BSONError) {
        self.init(unchecked: bytes[...])
        _ = try BSONFields(self)
    }

    /// Makes a document with the fields in this order.
    package init(_ fields: some Sequence<(String, BSONValue)>) {
        var writer = BSONWriter()
        writer.document(fields)
        bytes = writer.bytes[...]
    }

    /// Lends its bytes.
    package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBytes(body)
    }

    package var isEmpty: Bool { bytes.count <= 5 }

    /// Adds a field at the end.
    package func with(_ key: String, _ value: BSONValue) -> BSONDocument {
        var writer = BSONWriter(appendingTo: bytes)
        writer.element(key, value)
        return BSONDocument(unchecked: writer.closed()[...])
    }
}

extension BSONDocument {
    /// A checksum of everything in the document. The order of its fields and the width of whole numbers do not count: a database may
    /// change them.
    package var fingerprint: UInt64 {
        get throws(BSONError) {
            var scanner = try BSONScanner(self)
            var sum: UInt64 = 0
            while let element = try scanner.next() {
                var type = element.type
                let value: UInt64
                switch type {
                case .document, .array: value = try BSONDocument(unchecked: scanner.bytes[element.value]).fingerprint
                case .int32, .int64:
                    type = .int64
                    value = UInt64(bitPattern: Int64(bson: try scanner.value(of: element)) ?? 0)
                default: value = StableHash.of(scanner.bytes[element.value])
                }
                let field = StableHash.of(scanner.bytes[element.key]) &+ UInt64(type.rawValue)
                sum &+= StableHash.spread(StableHash.spread(field) ^ value)
            }
            // A sum of fingerprints must not be that of all fields: it tells which document a field is in.
            return StableHash.spread(sum)
        }
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (String, BSONValue)...) {
        self.init(fields)
    }
}

/// Why a document cannot be read.
package struct BSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field, the expected and the found value.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Bytes that are no document.
    static let malformed = BSONError("the bytes are no BSON document")
}

/// The fields of a document, by name.
package struct BSONFields {
    private let scanner: BSONScanner
    private let elements: [BSONScanner.Element]
    private let place: Place

    /// Where a document is in the outermost one. Its text is only made for errors: a push may have a thousand nested documents.
    private indirect enum Place {
        case outermost
        case field(String, in: Place)
        case element(Int, of: String, in: Place)

        /// The prefix of field names: empty, or the path of the nested document and a dot.
        var path: String {
            switch self {
            case .outermost: ""
            case .field(let key, let outer): "\(outer.path)\(key)."
            case .element(let index, let key, let outer): "\(outer.path)\(key).\(index)."
            }
        }
    }

    /// - Throws: ``BSONError`` if the bytes are no document.
    package init(_ document: BSONDocument) throws(BSONError) {
        try self.init(document, at: .outermost)
    }

    private init(_ document: BSONDocument, at place: Place) throws(BSONError) {
        var scanner = try BSONScanner(document)
        var elements: [BSONScanner.Element] = []
        elements.reserveCapacity(24)
        while let element = try scanner.next() { elements.append(element) }
        self.scanner = scanner
        self.elements = elements
        self.place = place
    }

    /// The value without a conversion; `nil` if there is no such field.
    package subscript(_ key: String) -> BSONValue? {
        get throws(BSONError) {
            // Most names differ in length already.
            let length = key.utf8.count
            for element in elements where element.key.count == length && scanner.bytes[element.key].elementsEqual(key.utf8) {
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
            throw error(key, "expected \(Value.expectedBSON), found nothing")
        }
        return value
    }

    /// A field that may be absent or null.
    package func optional<Value: BSONConvertible>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(BSONError) -> Value? {
        guard let bson = try self[key], bson != .null else { return nil }
        guard let value = Value(bson: bson) else {
            throw error(key, "expected \(Value.expectedBSON), found \(bson.type)")
        }
        return value
    }

    /// The fields of a required nested document.
    package func fields(_ key: String) throws(BSONError) -> BSONFields {
        try BSONFields(value(key), at: .field(key, in: place))
    }

    /// The fields of a nested document that may be absent or null.
    package func optionalFields(_ key: String) throws(BSONError) -> BSONFields? {
        guard let document = try optional(key, as: BSONDocument.self) else { return nil }
        return try BSONFields(document, at: .field(key, in: place))
    }

    /// The fields of each document in a required array.
    package func list(_ key: String) throws(BSONError) -> [BSONFields] {
        var list: [BSONFields] = []
        for (index, document) in try value(key, as: [BSONDocument].self).enumerated() {
            list.append(try BSONFields(document, at: .element(index, of: key, in: place)))
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
                return try BSONFields(document, at: .element(index, of: key, in: place))
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
        BSONError("field \(place.path)\(key): \(problem)")
    }
}

/// A document within Codable types, for a type that reads its fields itself. Only ``BSONCoder`` knows it.
extension BSONDocument: Codable {
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? BSONValueDecoder else { throw BSONError("only BSON contains documents") }
        guard case .document(let document) = decoder.value else { throw decoder.mismatch("a document") }
        self = document
    }

    package func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? BSONValueEncoder else { throw BSONError("only BSON contains documents") }
        encoder.node.set(.document(self))
    }
}
