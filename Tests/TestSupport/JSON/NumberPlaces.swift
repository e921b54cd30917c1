package import Base

/// Numbers that end a program whose arithmetic overflows, as JSON spells them: the extreme integers, those beyond them, and those around 0.
package let extremeNumbers = [
    "-9223372036854775808", "9223372036854775807", "-9223372036854775809", "9223372036854775808", "-9007199254740993", "-1e30",
    "1e30", "0.5", "-1", "0", "1", "253402300799999",
]

/// Those that are tried in one of many places: in level one a third of them, and the next place has another third.
///
/// - Parameter number: The number of the place.
package func triedNumbers(inPlace number: Int) -> [String] {
    guard !Level.isAll else { return extremeNumbers }
    return extremeNumbers.enumerated().filter { ($0.offset + number) % 3 == 0 }.map(\.element)
}

/// A number in documents of a JSON Schema.
package struct NumberPlace: CustomStringConvertible, Sendable {
    /// The names of the fields that lead to it; `nil` for an element of a list.
    package let path: [String?]
    package let schema: JSONValue

    package var description: String { path.map { $0.map { "." + $0 } ?? "[0]" }.joined() }

    /// Whether the schema limits it on both sides.
    package var hasRange: Bool { schema["enum"] != nil || (schema["minimum"] != nil && schema["maximum"] != nil) }

    /// Whether the schema excludes a number.
    package func excludes(_ number: String) -> Bool {
        guard let value = Int64(number) else { return schema["type"]?.string == "integer" }
        if let values = schema["enum"]?.elements { return !values.contains(.integer(value)) }
        return value < schema["minimum"]?.integer ?? .min || value > schema["maximum"]?.integer ?? .max
    }

    /// All numbers in documents of a schema.
    ///
    /// - Parameter component: Finds a schema by the name in a reference.
    package static func all(in schema: JSONValue, at path: [String?] = [], _ component: (String) -> JSONValue?) -> [NumberPlace] {
        // A type that contains itself ends here.
        guard path.count < 8 else { return [] }
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return component(String(name)).map { all(in: $0, at: path, component) } ?? []
        }
        if ["integer", "number"].contains(schema["type"]?.string) { return [NumberPlace(path: path, schema: schema)] }
        let fields = (schema["properties"]?.members ?? []).map { ($0.name as String?, $0.value) }
        let others = [(nil, schema["items"]), ("en", schema["additionalProperties"])].compactMap { name, value in
            value.map { (name as String?, $0) }
        }
        return (fields + others).flatMap { all(in: $1, at: path + [$0], component) }
            + ["anyOf", "oneOf", "allOf"].flatMap { schema[$0]?.elements ?? [] }.flatMap { all(in: $0, at: path, component) }
    }

    /// All numbers of a document.
    package static func all(of document: JSONValue, at path: [String?] = []) -> [NumberPlace] {
        if document.number != nil { return [NumberPlace(path: path, schema: [:])] }
        let first = document.elements?.first.map { all(of: $0, at: path + [nil]) } ?? []
        return first + (document.members ?? []).flatMap { all(of: $0.value, at: path + [$0.name]) }
    }

    /// A document with another value in this place.
    package func setting(_ value: JSONValue, in document: JSONValue) -> JSONValue {
        Self.setting(value, at: path[...], in: document)
    }

    private static func setting(_ value: JSONValue, at path: ArraySlice<String?>, in document: JSONValue) -> JSONValue {
        guard let step = path.first else { return value }
        guard let name = step else {
            let inner = setting(value, at: path.dropFirst(), in: document.elements?.first ?? [:])
            return .array([inner] + (document.elements ?? []).dropFirst())
        }
        var object = document.members == nil ? [:] : document
        object[name] = setting(value, at: path.dropFirst(), in: object[name] ?? [:])
        return object
    }
}

extension JSONValue {
    /// The elements of an array; none of anything else.
    package var array: [JSONValue] { elements ?? [] }

    /// The names of an object's fields, sorted; none of anything else.
    package var names: [String] { members?.map(\.name).sorted() ?? [] }
}
