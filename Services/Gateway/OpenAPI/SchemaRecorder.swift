package import Base

/// Learns the JSON Schema of types from their code.
///
/// It runs a type's `init(from:)` with a decoder that records which fields the type reads, and runs its ``Checked/check()`` with values
/// that break limits, to learn the limits from the violations. So the schema says what the code does.
package final class SchemaRecorder {
    /// Who writes the documents.
    package enum Direction: String {
        /// A caller writes them. They are read strictly: their limits count, and unknown fields are errors.
        case request
        /// The product writes them. Other fields may be added later, and stored documents may break newer limits.
        case answer
    }

    /// A recorded type.
    struct Recording {
        /// The schema, or a reference to a component.
        var schema: JSONValue
        /// A valid value; `nil` for a type that contains itself, while it is being recorded.
        var value: Any?
        /// Whether the type is a single string, number or boolean without its own component.
        var isPrimitive = false

        /// Whether the type is still being recorded. Then it contains itself.
        var isEndless: Bool { value == nil && !isPrimitive }
    }

    let direction: Direction
    /// The schemas of objects and of texts of a certain form, by their names.
    package var components: [String: JSONValue] { recorded.filter { !inlined.contains($0.key) } }
    private var recorded: [String: JSONValue] = [:]
    /// The components that no other schema refers to.
    private var inlined: Set<String> = []
    /// The rules of ``Checked/check()`` that state no limit.
    package private(set) var unstatedRules: Set<String> = []
    private var recordings: [ObjectIdentifier: Recording] = [:]
    private var names: [String: ObjectIdentifier] = [:]

    package init(_ direction: Direction) {
        self.direction = direction
    }

    /// The schema of a type: a reference to a component, an array, or a primitive type.
    ///
    /// - Throws: ``UnrecordableType``.
    package func schema(of type: any Decodable.Type) throws -> JSONValue {
        try recording(of: type).schema
    }

    /// The reference to a component. A prefix distinguishes the names of the two directions until they are in one document.
    private func reference(to type: any Decodable.Type) throws -> (name: String, schema: JSONValue) {
        let name = ComponentName.of(type)
        guard names.updateValue(ObjectIdentifier(type), forKey: name) ?? ObjectIdentifier(type) == ObjectIdentifier(type) else {
            throw UnrecordableType(type: "\(type)", problem: "another type is called \(name) as well")
        }
        return (name, ["$ref": "#/components/schemas/\(direction.rawValue):\(name)"])
    }

    func recording<Value: Decodable>(of type: Value.Type) throws -> Recording {
        if let known = recordings[ObjectIdentifier(type)] { return known }
        let recording = try record(type)
        recordings[ObjectIdentifier(type)] = recording
        return recording
    }

    private func record<Value: Decodable>(_ type: Value.Type) throws -> Recording {
        if let schema = Self.primitive(type) { return Recording(schema: schema, value: nil, isPrimitive: true) }
        if type == JSONValue.self { return Recording(schema: [:], value: JSONValue.null) }
        if let container = type as? any RecordableContainer.Type { return try container.record(with: self) }
        if let text = type as? any TextCodable.Type { return try record(text: text) }
        if let integer = type as? any RangedInteger.Type { return record(integer: integer) }
        if let values = Self.texts(of: type) {
            let (name, reference) = try reference(to: type)
            recorded[name] = annotated(type, ["type": "string", "enum": .array(values.map { .string($0.text) })])
            return Recording(schema: reference, value: values.first?.value)
        }
        if let values = Self.integers(of: type) {
            let (name, reference) = try reference(to: type)
            recorded[name] = annotated(type, ["type": "integer", "enum": .array(values.map { .integer($0.number) })])
            return Recording(schema: reference, value: values.first?.value)
        }
        return try record(fields: type)
    }

    private static func primitive(_ type: any Decodable.Type) -> JSONValue? {
        switch type {
        case is any FixedWidthInteger.Type: ["type": "integer"]
        case is String.Type: ["type": "string"]
        case is Bool.Type: ["type": "boolean"]
        case is Double.Type: ["type": "number"]
        default: nil
        }
    }

    /// The values of an enumeration of strings.
    private static func texts(of type: any Decodable.Type) -> [(text: String, value: Any)]? {
        func texts<Values: CaseIterable & RawRepresentable>(_ type: Values.Type) -> [(text: String, value: Any)]? {
            let values = type.allCases.map { ($0.rawValue as? String, $0) }
            guard values.allSatisfy({ $0.0 != nil }) else { return nil }
            return values.map { ($0.0 ?? "", $0.1) }
        }
        guard let values = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return texts(values)
    }

    /// The values of an enumeration of integers.
    private static func integers(of type: any Decodable.Type) -> [(number: Int, value: Any)]? {
        func integers<Values: CaseIterable & RawRepresentable>(_ type: Values.Type) -> [(number: Int, value: Any)]? {
            guard Values.RawValue.self == Int.self else { return nil }
            return type.allCases.compactMap { value in (value.rawValue as? Int).map { ($0, value) } }
        }
        guard let values = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return integers(values)
    }

    private func record<Integer: RangedInteger>(integer type: Integer.Type) -> Recording {
        let limit = FieldLimit.range(type.range)
        let schema: JSONValue = ["type": "integer"]
        return Recording(schema: schema.merging(limit.keywords), value: Integer(rawValue: type.range.lowerBound))
    }

    private func record<Text: TextCodable>(text type: Text.Type) throws -> Recording {
        guard let value = Text(type.example) else {
            throw UnrecordableType(type: "\(type)", problem: "its `example` is not valid")
        }
        let (name, reference) = try reference(to: type)
        var schema: JSONValue = [
            "type": "string", "description": .string(type.expected.prefix(1).uppercased() + type.expected.dropFirst() + "."),
            "examples": [.string(type.example)],
        ]
        if !type.pattern.isEmpty { schema["pattern"] = .string(type.pattern) }
        recorded[name] = annotated(type, schema)
        return Recording(schema: reference, value: value)
    }

    private func record<Value: Decodable>(fields type: Value.Type) throws -> Recording {
        let (name, reference) = try reference(to: type)
        recordings[ObjectIdentifier(type)] = Recording(schema: reference, value: nil)
        let probe = LimitProbe<Value>(recorder: self)
        let (form, value) = try probe.record()
        for rule in probe.unstatedRules { unstatedRules.insert("\(name).\(rule)") }
        switch form {
        case .value(let schema):
            return Recording(schema: annotated(type, schema), value: value, isPrimitive: true)
        case .object(let fields):
            recorded[name] = annotated(type, schema(of: fields))
            return Recording(schema: reference, value: value)
        }
    }

    private func schema(of fields: [RecordedField]) -> JSONValue {
        var schema: JSONValue = [
            "type": "object", "properties": .object(fields.map { .init($0.name, self.schema(of: $0)) }),
        ]
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        if direction == .request { schema["additionalProperties"] = false }
        return schema
    }

    private func schema(of field: RecordedField) -> JSONValue {
        guard direction == .request else { return field.schema }
        var schema = field.limits.reduce(field.schema) { $0.limited(by: $1) }
        schema["items"] = schema["items"].map { field.elementLimits.reduce($0) { $0.limited(by: $1) } }
        return schema
    }

    private func annotated(_ type: any Decodable.Type, _ schema: JSONValue) -> JSONValue {
        var schema = schema
        if let annotated = type as? any SchemaAnnotated.Type { schema = schema.merging(annotated.schemaAnnotations) }
        if let exemplary = type as? any HasExample.Type, let example = Self.json(exemplary) { schema["examples"] = [example] }
        return schema
    }

    private static func json<Value: HasExample>(_ type: Value.Type) -> JSONValue? {
        try? JSONValue(parsing: JSONCoder.encode(type.example))
    }
}

/// A type whose schema cannot be learned.
package struct UnrecordableType: Error, CustomStringConvertible {
    let type: String
    let problem: String

    package var description: String { "\(type): \(problem)" }
}

extension JSONValue {
    /// The schema of a field with a limit. For an array, an object or a text a range is that of its length.
    fileprivate func limited(by limit: FieldLimit) -> JSONValue {
        let suffix: String? =
            switch self["type"]?.string {
            case "array": "Items"
            case "object": "Properties"
            case "string": "Length"
            default: nil
            }
        guard let suffix, let min = limit.keywords["minimum"], let max = limit.keywords["maximum"] else {
            return merging(limit.keywords)
        }
        return merging(.object([.init("min" + suffix, min), .init("max" + suffix, max)]))
    }
}

extension SchemaRecorder {
    /// A field of an object that has no component.
    package struct Field {
        package let name: String
        package let schema: JSONValue
        package let isRequired: Bool
    }

    /// The fields of a type that is not a document, such as the parameters of a query.
    ///
    /// - Throws: ``UnrecordableType``.
    package func inlineObject(of type: any Decodable.Type) throws -> [Field] {
        _ = try schema(of: type)
        let name = ComponentName.of(type)
        inlined.insert(name)
        let component = recorded[name]
        let required = Set(component?["required"]?.elements?.compactMap(\.string) ?? [])
        return (component?["properties"]?.members ?? []).map {
            Field(name: $0.name, schema: $0.value, isRequired: required.contains($0.name))
        }
    }
}

/// A type that says more about its JSON Schema than its coding and its checks show.
package protocol SchemaAnnotated {
    /// Keywords that are merged into the recorded schema: a description, the descriptions of properties, or rules about several
    /// properties, such as `if` and `then`.
    static var schemaAnnotations: JSONValue { get }
}

/// A type with a realistic value for the documentation.
package protocol HasExample: Encodable {
    static var example: Self { get }
}

extension JSONValue {
    /// The object with the other's fields. Objects in both are merged; any other field of `other` replaces this one's.
    package func merging(_ other: JSONValue) -> JSONValue {
        guard members != nil, let added = other.members else { return other }
        return added.reduce(into: self) { result, member in
            result[member.name] = result[member.name].map { $0.merging(member.value) } ?? member.value
        }
    }
}

/// The names of types in a document.
enum ComponentName {
    /// A type's name with the names of the types around it: `MessageTemplate.Draft` is `MessageTemplateDraft`. The module's name and
    /// the ending `Routes` of the gateway's features are left out, and `ProblemRoutes.ProblemEntry` is `ProblemEntry`.
    static func of(_ type: Any.Type) -> String {
        let name = String(reflecting: type)
        guard let open = name.firstIndex(of: "<") else { return plain(name) }
        // A generic type: `ResourcePage<Shelf>` is `ResourcePageOfShelf`.
        let arguments = name[open...].dropFirst().dropLast().split(separator: ",").map { plain(String($0)) }
        return plain(String(name[..<open])) + "Of" + arguments.joined(separator: "And")
    }

    private static func plain(_ name: String) -> String {
        // A private type's context is in parentheses: `(unknown context at $7f…)`.
        var depth = 0
        let visible = name.filter { character in
            if character == "(" { depth += 1 }
            defer { if character == ")" { depth -= 1 } }
            return depth == 0
        }
        let parts = visible.split(separator: ".").dropFirst().map { $0.hasSuffix("Routes") ? $0.dropLast(6) : $0 }
        return parts.reduce("") { outer, part in part.hasPrefix(outer) ? String(part) : outer + part }
    }
}
