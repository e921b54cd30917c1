import JSON

/// A container of other types. Its values may be empty, which ends the recursion of a type that contains itself.
protocol RecordableContainer: Decodable {
    static func record(with recorder: SchemaRecorder) throws -> SchemaRecorder.Recording
}

/// A container that a check may limit in its length.
protocol RecordableList: RecordableContainer {
    /// The element's type.
    static var element: any Decodable.Type { get }
    /// A list of this many equal elements.
    static func list(of value: Any?, count: Int) -> Self
}

extension RecordableList {
    static func record(with recorder: SchemaRecorder) throws -> SchemaRecorder.Recording {
        SchemaRecorder.Recording(
            schema: ["type": "array", "items": try recorder.schema(of: element)], value: list(of: nil, count: 0))
    }
}

extension Array: RecordableContainer, RecordableList where Element: Decodable {
    static var element: any Decodable.Type { Element.self }

    static func list(of value: Any?, count: Int) -> [Element] {
        (value as? Element).map { Array(repeating: $0, count: count) } ?? []
    }
}

extension Dictionary: RecordableContainer where Key == String, Value: Decodable {
    static func record(with recorder: SchemaRecorder) throws -> SchemaRecorder.Recording {
        let schema: JSONValue = ["type": "object", "additionalProperties": try recorder.schema(of: Value.self)]
        return SchemaRecorder.Recording(schema: schema, value: Self())
    }
}
