import HTTPRouting
import Hummingbird
import Base

/// Reads the parameters of a request's query as a type. Its coding keys are the parameters' names.
///
/// An error names the parameter. An unexpected parameter is an error as well: otherwise a mistyped filter would return everything.
struct QueryDecoder: Decoder {
    private let values: [String: String]

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Throws: ``Problem``, including for a value that fails the type's ``Checked/check()``.
    static func decode<Query: Decodable>(_ type: Query.Type, from request: Request) throws -> Query {
        do {
            return try read(type, from: request)
        } catch let violation as SchemaViolation {
            // This includes a parameter with an empty name.
            throw Problem(.invalidField, violation.description, field: violation.field.isEmpty ? nil : violation.field)
        }
    }

    private static func read<Query: Decodable>(_ type: Query.Type, from request: Request) throws -> Query {
        var values: [String: String] = [:]
        for parameter in request.queryParameters.all {
            let field = String(parameter.name.prefix(60))
            guard let value = parameter.value else {
                throw SchemaViolation(field: field, problem: "expected UTF-8 with percent encoding")
            }
            guard values.updateValue(value, forKey: parameter.name) == nil else {
                throw SchemaViolation(field: field, problem: "given more than once")
            }
        }
        do {
            let query = try Query(from: QueryDecoder(values: values))
            if let checked = query as? any Checked { try checked.check() }
            return query
        } catch let error as DecodingError {
            throw SchemaViolation(error)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let unknown = values.keys.filter({ Key(stringValue: $0) == nil }).min() {
            let name = String(unknown.prefix(60))
            throw SchemaViolation(field: name, problem: "not a parameter here" + Self.knownNames(of: Key.self))
        }
        return KeyedDecodingContainer(Parameters<Key>(values: values))
    }

    /// The names of the parameters, if the key type can list them.
    private static func knownNames<Key: CodingKey>(of type: Key.Type) -> String {
        guard let keys = type as? any (CodingKey & CaseIterable).Type else { return "" }
        func names<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) -> [String] { keys.allCases.map(\.stringValue) }
        return "; there are \(names(keys).joined(separator: ", "))"
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw unsupported }

    private var unsupported: SchemaViolation { SchemaViolation(field: "", problem: "a query has named parameters only") }
}

/// The parameters by their names.
private struct Parameters<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let values: [String: String]

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { values.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let text = values[key.stringValue] else {
            throw SchemaViolation(key, "missing, but required")
        }
        return try ParameterDecoder(key: key, text: text).decode(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        contains(key) ? try decode(type, forKey: key) : nil
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaViolation(key, "expected one value")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaViolation(key, "expected one value")
    }

    func superDecoder() throws -> any Decoder { throw SchemaViolation(field: "", problem: "expected one value") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaViolation(key, "expected one value") }
}

/// One parameter.
private struct ParameterDecoder<Key: CodingKey>: Decoder, SingleValueDecodingContainer {
    let key: Key
    let text: String

    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaViolation(key, "expected one value")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SchemaViolation(key, "expected one value") }

    func decodeNil() -> Bool { false }

    func decode(_ type: String.Type) -> String { text }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let value = Bool(text) else { throw SchemaViolation(key, "expected true or false") }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try number(Double(text)) }
    func decode(_ type: Float.Type) throws -> Float { try number(Float(text)) }

    private func number<Number: BinaryFloatingPoint>(_ value: Number?) throws -> Number {
        guard let value, value.isFinite else { throw SchemaViolation(key, "expected a number") }
        return value
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        // Swift's initialiser also accepts a plus sign.
        guard !text.hasPrefix("+"), let value = Value(text) else { throw SchemaViolation(key, "expected an integer") }
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

/// A query that the handler decodes only if it has no stored answer for the text: decoding costs more than such an answer.
struct UnreadQuery<Query: Route.Document> {
    let request: Request

    /// As the client has sent it; empty if there is none.
    var text: String { request.uri.query ?? "" }

    /// - Throws: ``SchemaViolation``.
    func read() throws -> Query { try QueryDecoder.decode(Query.self, from: request) }
}
