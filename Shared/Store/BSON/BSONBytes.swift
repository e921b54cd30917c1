import Schemas

/// Writes the bytes of a document (bsonspec.org).
struct BSONWriter {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(256)
    }

    /// Continues a document. ``closed()`` adds the final zero again.
    init(appendingTo document: ArraySlice<UInt8>) {
        bytes = Array(document.dropLast())
    }

    /// The continued document, with its final zero and its new length.
    consuming func closed() -> [UInt8] {
        end(from: 0)
        return bytes
    }

    mutating func document(_ fields: some Sequence<(String, BSONValue)>) {
        let start = begin()
        for (key, value) in fields { element(key, value) }
        end(from: start)
    }

    mutating func element(_ key: String, _ value: BSONValue) {
        bytes.append(value.type.rawValue)
        append(key)
        append(value)
    }

    private mutating func append(_ value: BSONValue) {
        switch value {
        case .objectID(let id): bytes += id.bytes
        case .string(let text):
            append(Int32(text.utf8.count + 1))
            bytes += text.utf8
            bytes.append(0)
        case .int32(let number): append(number)
        case .int64(let number): append(number)
        case .double(let number): append(number.bitPattern)
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .null: break
        case .array(let values):
            // An array is a document with the keys "0", "1" and so on.
            document(values.enumerated().lazy.map { (String($0.offset), $0.element) })
        case .document(let document): bytes += document.bytes
        case .foreign(_, let foreign): bytes += foreign
        }
    }

    private mutating func append(_ key: String) {
        precondition(!key.utf8.contains(0), "a key ends at its first zero")
        bytes += key.utf8
        bytes.append(0)
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    private mutating func begin() -> Int {
        defer { append(Int32(0)) }
        return bytes.count
    }

    private mutating func end(from start: Int) {
        bytes.append(0)
        withUnsafeBytes(of: Int32(bytes.count - start).littleEndian) { length in
            bytes.replaceSubrange(start..<start + 4, with: length)
        }
    }
}

/// Scans the bytes of a document element by element. It never reads beyond the end, even if a length is wrong.
struct BSONScanner {
    /// The position of an element.
    struct Element {
        let type: BSONType
        let key: Range<Int>
        let value: Range<Int>
    }

    let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ document: BSONDocument) throws(BSONError) {
        bytes = document.bytes
        position = bytes.startIndex
        guard try Int(int32()) == bytes.count, bytes.last == 0 else { throw .malformed }
    }

    /// The next element; `nil` at the end.
    mutating func next() throws(BSONError) -> Element? {
        guard position < bytes.endIndex - 1 else { return nil }
        let number = bytes[position]
        position += 1
        guard let type = BSONType(rawValue: number) else { throw .malformed }
        let key = try text()
        let start = position
        try skip(type)
        return Element(type: type, key: key, value: start..<position)
    }

    func value(of element: Element) throws(BSONError) -> BSONValue {
        let value = bytes[element.value]
        switch element.type {
        case .objectID:
            guard let id = ObjectID(bytes: value) else { throw .malformed }
            return .objectID(id)
        case .string:
            // The text is between the length and the final zero.
            return .string(String(decoding: value.dropFirst(4).dropLast(), as: UTF8.self))
        case .int32: return .int32(Self.integer(value))
        case .int64: return .int64(Self.integer(value))
        case .double: return .double(Double(bitPattern: Self.integer(value)))
        case .bool: return .bool(value.first == 1)
        case .null: return .null
        case .document: return .document(BSONDocument(unchecked: value))
        case .array: return .array(try Self.elements(of: value))
        default: return .foreign(element.type, bytes: value)
        }
    }

    private static func elements(of array: ArraySlice<UInt8>) throws(BSONError) -> [BSONValue] {
        var scanner = try BSONScanner(BSONDocument(unchecked: array))
        var values: [BSONValue] = []
        while let element = try scanner.next() { values.append(try scanner.value(of: element)) }
        return values
    }

    private mutating func skip(_ type: BSONType) throws(BSONError) {
        switch type {
        case .undefined, .null, .minKey, .maxKey: break
        case .bool: try advance(1)
        case .int32: try advance(4)
        case .double, .date, .timestamp, .int64: try advance(8)
        case .objectID: try advance(12)
        case .decimal128: try advance(16)
        case .string, .code, .symbol: try skipString()
        case .pointer:
            try skipString()
            try advance(12)
        case .binary: try advance(Int(int32()) + 1)
        case .document, .array, .codeWithScope: try advance(Int(int32()) - 4)
        case .regularExpression:
            _ = try text()
            _ = try text()
        }
    }

    private mutating func skipString() throws(BSONError) {
        let length = try Int(int32())
        guard length >= 1 else { throw .malformed }
        try advance(length)
        guard bytes[position - 1] == 0 else { throw .malformed }
    }

    private mutating func advance(_ count: Int) throws(BSONError) {
        guard count >= 0, count <= bytes.endIndex - position else { throw .malformed }
        position += count
    }

    private mutating func int32() throws(BSONError) -> Int32 {
        let start = position
        try advance(4)
        return Self.integer(bytes[start..<position])
    }

    /// Reads text up to a zero.
    private mutating func text() throws(BSONError) -> Range<Int> {
        guard let end = bytes[position...].firstIndex(of: 0) else { throw .malformed }
        defer { position = end + 1 }
        return position..<end
    }

    private static func integer<Integer: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Integer {
        Integer(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: Integer.self) })
    }
}
