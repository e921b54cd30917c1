package import Schemas
package import Base

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

/// A type that is stored as one BSON value.
package protocol BSONConvertible {
    /// The expected BSON type, for errors.
    static var expectedBSON: String { get }

    /// Reads a value; `nil` if it has another type.
    init?(bson: BSONValue)

    var bson: BSONValue { get }
}

extension ObjectID: BSONConvertible {
    package static var expectedBSON: String { "an ObjectId" }

    package init?(bson: BSONValue) {
        guard case .objectID(let id) = bson else { return nil }
        self = id
    }

    package var bson: BSONValue { .objectID(self) }
}

extension String: BSONConvertible {
    package static var expectedBSON: String { "a string" }

    package init?(bson: BSONValue) {
        guard case .string(let text) = bson else { return nil }
        self = text
    }

    package var bson: BSONValue { .string(self) }
}

extension Bool: BSONConvertible {
    package static var expectedBSON: String { "a boolean" }

    package init?(bson: BSONValue) {
        guard case .bool(let value) = bson else { return nil }
        self = value
    }

    package var bson: BSONValue { .bool(self) }
}

extension Int32: BSONConvertible {
    package static var expectedBSON: String { "a whole number of 32 bits" }

    package init?(bson: BSONValue) {
        guard let wide = Int64(bson: bson), let number = Int32(exactly: wide) else { return nil }
        self = number
    }

    package var bson: BSONValue { .int32(self) }
}

extension Int64: BSONConvertible {
    package static var expectedBSON: String { "a whole number" }

    /// Other programs, such as MongoDB's shell, write whole numbers in the shortest type or as doubles.
    package init?(bson: BSONValue) {
        switch bson {
        case .int64(let number): self = number
        case .int32(let number): self.init(number)
        case .double(let number): self.init(exactly: number)
        default: return nil
        }
    }

    package var bson: BSONValue { .int64(self) }
}

extension BSONDocument: BSONConvertible {
    package static var expectedBSON: String { "a document" }

    package init?(bson: BSONValue) {
        guard case .document(let document) = bson else { return nil }
        self = document
    }

    package var bson: BSONValue { .document(self) }
}

extension Array: BSONConvertible where Element: BSONConvertible {
    package static var expectedBSON: String { "an array whose elements are each \(Element.expectedBSON)" }

    package init?(bson: BSONValue) {
        guard case .array(let values) = bson else { return nil }
        self.init()
        reserveCapacity(values.count)
        for value in values {
            guard let element = Element(bson: value) else { return nil }
            append(element)
        }
    }

    package var bson: BSONValue { .array(map(\.bson)) }
}

/// A topic key is stored as its text.
extension TopicKey: BSONConvertible {
    package static var expectedBSON: String { "a topic key: three ObjectIds joined by \"-\"" }

    package init?(bson: BSONValue) {
        guard case .string(let text) = bson else { return nil }
        self.init(text)
    }

    package var bson: BSONValue { .string(description) }
}

/// An enumeration of strings is stored as one of them.
extension BSONConvertible where Self: CaseIterable & RawRepresentable, RawValue == String {
    package static var expectedBSON: String { "one of " + allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") }

    package init?(bson: BSONValue) {
        guard case .string(let text) = bson else { return nil }
        self.init(rawValue: text)
    }

    package var bson: BSONValue { .string(rawValue) }
}

extension Distribution: BSONConvertible {}

/// A type that wraps a number, such as ``UnixMilliseconds``, is stored as the number.
extension BSONConvertible where Self: RawRepresentable, RawValue == Int64 {
    package static var expectedBSON: String { Int64.expectedBSON }

    package init?(bson: BSONValue) {
        guard let number = Int64(bson: bson) else { return nil }
        self.init(rawValue: number)
    }

    package var bson: BSONValue { rawValue.bson }
}

extension UnixMilliseconds: BSONConvertible {}

extension Milliseconds: BSONConvertible {}

extension Seconds: BSONConvertible {}
