import Base

/// Records what a type's `init(from:)` reads, and gives it the values of a ``RecordedRun``.
struct RecordingDecoder: Decoder {
    let run: RecordedRun
    /// The path of the field that is read; empty for the whole document.
    let path: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard path.isEmpty else { throw unsupported("an object without its own type") }
        // A type that embeds another one reads the fields of both.
        if case .object? = run.form {} else { run.form = .object([]) }
        return KeyedDecodingContainer(RecordedFields<Key>(run: run))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported("an array without its own type") }

    fileprivate func unsupported(_ what: String) -> UnrecordableType { UnrecordableType(type: "a field \(path)", problem: what) }
}

extension RecordingDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try run.read(type, path)
        if path.isEmpty { run.form = .value(schema) }
        return value
    }
}

extension RecordedRun {
    /// A value for a field of a type, and the type's schema.
    fileprivate func read<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> (schema: JSONValue, value: Value) {
        let recording = try recorder.recording(of: type)
        let value: Any? =
            if let integer = type as? any FixedWidthInteger.Type {
                clamped(path, to: integer)
            } else if type == String.self {
                text(path)
            } else if type == Bool.self {
                false
            } else if type == Double.self {
                0.5
            } else if let list = type as? any RecordableList.Type {
                try elements(path, of: list)
            } else if recording.isPrimitive {
                // A type that wraps a primitive value, such as a number of seconds.
                try Value(from: RecordingDecoder(run: self, path: path))
            } else {
                recording.value
            }
        guard let value = value as? Value else {
            throw UnrecordableType(type: "\(Value.self)", problem: "it contains itself, and there is no value to end with")
        }
        return (recording.schema, value)
    }

    private func clamped<Integer: FixedWidthInteger>(_ path: String, to type: Integer.Type) -> Integer {
        Integer(clamping: integer(path))
    }

    private func elements<List: RecordableList>(_ path: String, of type: List.Type) throws -> List {
        func element<Element: Decodable>(_ type: Element.Type) throws -> Element? {
            try recorder.recording(of: type).isEndless ? nil : read(type, path + "[]").value
        }
        return type.list(of: try element(type.element), count: count(path))
    }
}

/// The fields of the recorded type.
private struct RecordedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: RecordedRun

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    // Called for optional fields: the standard library's `decodeIfPresent` for a text or a number calls it, and then decodes.
    func contains(_ key: Key) -> Bool {
        run.optionalFields.insert(key.stringValue)
        return run.isPresent(key.stringValue)
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try read(type, key, isRequired: !run.optionalFields.contains(key.stringValue))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let recording = try run.recorder.recording(of: type)
        guard run.isPresent(key.stringValue), !recording.isEndless else {
            note(recording.schema, key, isRequired: false)
            return nil
        }
        return try read(type, key, isRequired: false)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ key: Key, isRequired: Bool) throws -> Value {
        let (schema, value) = try run.read(type, key.stringValue)
        note(schema, key, isRequired: isRequired)
        return value
    }

    private func note(_ schema: JSONValue, _ key: Key, isRequired: Bool) {
        guard case .object(let fields)? = run.form else { return }
        run.form = .object(fields + [RecordedField(name: key.stringValue, schema: schema, isRequired: isRequired)])
    }

    private func unsupported(_ key: Key) -> UnrecordableType {
        UnrecordableType(type: "a field \(key.stringValue)", problem: "a container without its own type")
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw unsupported(key)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw unsupported(key) }

    func superDecoder() throws -> any Decoder { throw UnrecordableType(type: "an object", problem: "it has a superclass") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw unsupported(key) }
}

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
