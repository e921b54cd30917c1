/// Writes types as Foundation's encoder with sorted keys would, to the byte, in a fraction of its time.
///
/// It knows texts, integers, booleans, nulls, objects and arrays, and gives up on everything else.
struct PlainEncoder: Encoder {
    let writer: UnsafeMutablePointer<PlainWriter>
    let frame: Int

    /// Writes a document.
    ///
    /// - Returns: `nil` where Foundation's encoder has to do it.
    static func encode(_ value: some Encodable) -> [UInt8]? {
        withUnsafeTemporaryAllocation(of: PlainWriter.self, capacity: 1) { buffer in
            guard let writer = buffer.baseAddress else { return nil }
            writer.initialize(to: PlainWriter())
            defer { writer.deinitialize(count: 1) }
            do {
                try write(value, to: writer)
            } catch {
                // Foundation's encoder finds the same error, or none.
                return nil
            }
            return writer.pointee.bytes
        }
    }

    /// Lets a value write itself.
    fileprivate static func write<Value: Encodable>(_ value: Value, to writer: UnsafeMutablePointer<PlainWriter>) throws {
        guard !FoundationForms.has(Value.self) else { throw writer.pointee.giveUp() }
        try value.encode(to: PlainEncoder(writer: writer, frame: writer.pointee.beginValue()))
        try writer.pointee.endValue()
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.pointee.beginObject(frame)
        return KeyedEncodingContainer(PlainKeyedEncodingContainer<Key>(writer: writer, frame: frame))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.pointee.beginArray(frame)
        return PlainUnkeyedEncodingContainer(writer: writer, frame: frame)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension PlainEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { try scalar { $0.writeWord("null") } }
    func encode(_ value: Bool) throws { try scalar { $0.writeWord(value ? "true" : "false") } }
    func encode(_ value: String) throws { try scalar { $0.writeText(value) } }
    func encode(_ value: Double) throws { throw writer.pointee.giveUp() }
    func encode(_ value: Float) throws { throw writer.pointee.giveUp() }
    func encode(_ value: some FixedWidthInteger & Encodable) throws { try scalar { $0.writeInteger(value) } }

    func encode(_ value: some Encodable) throws {
        try writer.pointee.beginScalar(frame)
        try PlainEncoder.write(value, to: writer)
    }

    private func scalar(_ write: (inout PlainWriter) throws -> Void) throws {
        try writer.pointee.beginScalar(frame)
        try write(&writer.pointee)
    }
}

/// The fields of an object that a ``PlainEncoder`` writes.
private struct PlainKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: UnsafeMutablePointer<PlainWriter>
    let frame: Int

    var codingPath: [any CodingKey] { [] }

    private func field(_ key: Key, _ write: (inout PlainWriter) throws -> Void) throws {
        try writer.pointee.beginField(frame, key.stringValue)
        try write(&writer.pointee)
        writer.pointee.endField()
    }

    func encodeNil(forKey key: Key) throws { try field(key) { $0.writeWord("null") } }
    func encode(_ value: String, forKey key: Key) throws { try field(key) { $0.writeText(value) } }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        try field(key) { $0.writeInteger(value) }
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try writer.pointee.beginField(frame, key.stringValue)
        try PlainEncoder.write(value, to: writer)
        writer.pointee.endField()
    }

    // None of our types nests by hand: what is written into these goes nowhere.

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        PlainEncoder.intoNothing(insteadOf: writer).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        PlainEncoder.intoNothing(insteadOf: writer).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { PlainEncoder.intoNothing(insteadOf: writer) }
    func superEncoder(forKey key: Key) -> any Encoder { PlainEncoder.intoNothing(insteadOf: writer) }
}

/// The elements of an array that a ``PlainEncoder`` writes.
private struct PlainUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let writer: UnsafeMutablePointer<PlainWriter>
    let frame: Int
    private(set) var count = 0

    init(writer: UnsafeMutablePointer<PlainWriter>, frame: Int) {
        self.writer = writer
        self.frame = frame
    }

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws {
        try writer.pointee.beginElement(frame)
        writer.pointee.writeWord("null")
        count += 1
    }

    mutating func encode(_ value: some Encodable) throws {
        try writer.pointee.beginElement(frame)
        try PlainEncoder.write(value, to: writer)
        count += 1
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        PlainEncoder.intoNothing(insteadOf: writer).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        PlainEncoder.intoNothing(insteadOf: writer).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { PlainEncoder.intoNothing(insteadOf: writer) }
}

extension PlainEncoder {
    /// An encoder for what a writer cannot write, where there is no error to be thrown: the writer gives up, whatever else is
    /// written into it, and Foundation's encoder does it all again.
    fileprivate static func intoNothing(insteadOf writer: UnsafeMutablePointer<PlainWriter>) -> PlainEncoder {
        _ = writer.pointee.giveUp()
        return PlainEncoder(writer: writer, frame: writer.pointee.beginValue())
    }
}
