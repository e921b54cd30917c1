package import Schemas

/// A value in a MongoDB document.
package enum BSONValue: Hashable, Sendable {
    case objectID(ObjectID)
    case string(String)
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case bool(Bool)
    case null
    case array([BSONValue])
    case document(BSONDocument)
    /// A value of any other type, as its bytes: it is written as it was read.
    case foreign(BSONType, bytes: ArraySlice<UInt8>)
}

/// The type of a value, with its number in a document (bsonspec.org).
package enum BSONType: UInt8, Sendable {
    case double = 0x01
    case string = 0x02
    case document = 0x03
    case array = 0x04
    case binary = 0x05
    case undefined = 0x06
    case objectID = 0x07
    case bool = 0x08
    case date = 0x09
    case null = 0x0A
    case regularExpression = 0x0B
    case pointer = 0x0C
    case code = 0x0D
    case symbol = 0x0E
    case codeWithScope = 0x0F
    case int32 = 0x10
    case timestamp = 0x11
    case int64 = 0x12
    case decimal128 = 0x13
    case maxKey = 0x7F
    case minKey = 0xFF
}

extension BSONValue {
    package var type: BSONType {
        switch self {
        case .objectID: .objectID
        case .string: .string
        case .int32: .int32
        case .int64: .int64
        case .double: .double
        case .bool: .bool
        case .null: .null
        case .array: .array
        case .document: .document
        case .foreign(let type, _): type
        }
    }
}

// Filters and updates are written as literals. A whole number in a literal is an int32, as in MongoDB's own shell. Stored values
// have an explicit type.

extension BSONValue: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = .string(text) }
}

extension BSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral number: Int32) { self = .int32(number) }
}

extension BSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension BSONValue: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) { self = .null }
}

extension BSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral values: BSONValue...) { self = .array(values) }
}

extension BSONValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (String, BSONValue)...) { self = .document(BSONDocument(fields)) }
}
