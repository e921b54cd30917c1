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
