/// Reads the JSON objects that headers nearly always are: flat, of plain ASCII texts without escapes and of integers.
///
/// Headers are read twice a round trip, and a general decoder costs more than everything else that the bus does. This one
/// knows the common form alone and gives up on everything else, errors among it, which then goes to the general decoder.
struct PlainObjectScanner {
    enum Value {
        /// The bytes between the quotes, 0x20 to 0x7E without quote and backslash.
        case text(UnsafeRawBufferPointer)
        case integer(Int64)
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Hands every field to `field` in order.
    ///
    /// - Returns: Whether the whole object was plain and `field` took every one.
    static func scan(
        _ bytes: UnsafeRawBufferPointer, _ field: (_ key: UnsafeRawBufferPointer, _ value: Value) -> Bool
    ) -> Bool {
        var scanner = PlainObjectScanner(bytes)
        guard scanner.skip(UInt8(ascii: "{")) else { return false }
        repeat {
            guard let key = scanner.text(), scanner.skip(UInt8(ascii: ":")), let value = scanner.value(),
                field(key, value)
            else { return false }
        } while scanner.skip(UInt8(ascii: ","))
        return scanner.skip(UInt8(ascii: "}")) && scanner.position == bytes.count
    }

    private mutating func value() -> Value? {
        if let text = text() { return .text(text) }
        return integer().map(Value.integer)
    }

    private mutating func text() -> UnsafeRawBufferPointer? {
        let start = position
        guard skip(UInt8(ascii: "\"")) else { return nil }
        let first = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return UnsafeRawBufferPointer(rebasing: bytes[first..<position - 1])
            }
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") else { break }
            position += 1
        }
        position = start
        return nil
    }

    /// Up to 18 digits, which cannot overflow; without a leading zero, which JSON does not allow.
    private mutating func integer() -> Int64? {
        skipSpaces()
        var number: Int64 = 0
        let start = position
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            guard position - start < 18 else { return nil }
            number = number &* 10 &+ Int64(digit)
            position += 1
        }
        guard position > start, position - start == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return number
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        skipSpaces()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of an ASCII word.
    func spells(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        for position in 0..<count where self[position] != word.utf8Start[position] { return false }
        return true
    }
}
