package import Schemas

/// Encodes Codable types as BSON documents, and decodes them.
///
/// An ``ObjectID`` becomes an ObjectId, a `Date` a UTC datetime in whole milliseconds, `Data` binary, an `Int32` an int32, any
/// other whole number an int64, an encoded `nil` null. Other types follow their own `Codable`.
package enum BSONCoder {
    /// The maximum depth of nesting. MongoDB's own limit is 100, and the envelope around a document needs some levels.
    static let maxDepth = 80

    /// - Throws: ``BSONError`` if the value is not a document, is nested too deeply, or has a field name that MongoDB reserves:
    ///   one that begins with `$`, contains a zero byte, or contains a dot at the top level.
    package static func encode(_ document: some Encodable) throws -> BSONDocument {
        let node = EncodedNode()
        do {
            try node.fill(with: document, at: [])
        } catch let error as EncodingError {
            throw BSONError(error)
        }
        guard case .document(let encoded) = node.value else { throw BSONError("a document has to have fields") }
        return encoded
    }

    /// Ignores fields that the type does not know.
    ///
    /// - Throws: ``BSONError`` that names the field.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from document: BSONDocument) throws -> Value {
        do {
            return try BSONValueDecoder(value: .document(document), codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw BSONError(error)
        }
    }
}

extension BSONError {
    init(at path: [any CodingKey], _ problem: String) {
        self.init(path.isEmpty ? problem : "field \(path.map(\.stringValue).joined(separator: ".")): \(problem)")
    }

    fileprivate init(_ error: EncodingError) {
        guard case .invalidValue(_, let context) = error else {
            self.init("it cannot be written")
            return
        }
        self.init(at: context.codingPath, context.debugDescription)
    }

    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context): self.init(at: context.codingPath + [key], "expected a value, found nothing")
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            self.init(at: context.codingPath, String(context.debugDescription.prefix(200)))
        @unknown default: self.init("it cannot be read")
        }
    }
}

/// A key for a position in an array, or for a superclass.
struct BSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let superclass = BSONKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

extension UnreadableDocuments {
    /// The readable documents in order. The log names the others by their `_id`.
    package func readable<Value>(of documents: [BSONDocument], as read: (BSONDocument) throws -> Value) throws -> [Value] {
        try readable(of: documents, named: \.identifier, as: read)
    }
}

extension BSONDocument {
    /// The document as a value, for a request for this one alone.
    ///
    /// - Parameter kind: Such as `message`.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is unreadable.
    package func readable<Value>(
        _ kind: String, as read: (BSONDocument) throws -> Value
    ) throws(CommandFailure) -> Value {
        do {
            return try read(self)
        } catch {
            throw .unreadable(kind, identifier, error)
        }
    }

    /// The `_id` as text.
    package var identifier: String {
        do {
            return switch try BSONFields(self)["_id"] {
            case .objectID(let identifier): identifier.description
            case .string(let text): String(text.prefix(100))
            case let other: String("\(other ?? .null)".prefix(100))
            }
        } catch {
            return "not readable either"
        }
    }
}
