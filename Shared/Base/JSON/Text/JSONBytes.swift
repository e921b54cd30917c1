public import FoundationEssentials

/// A growing buffer for JSON. An array would check its capacity and uniqueness for each piece, and would have to be copied into
/// a `Data`.
///
/// It is public because the compiler inlines only public declarations in other modules.
public struct JSONBytes: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0

    /// - Parameter capacity: The initial capacity in bytes.
    public init(capacity: Int) {
        self.capacity = max(capacity, 16)
        memory = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        memory.deallocate()
    }

    /// The written bytes; valid until the next write.
    @inlinable
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// A copy of the written bytes.
    public consuming func data() -> Data {
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .custom { memory, _ in memory.deallocate() })
        discard self
        return data
    }

    /// Clears the buffer and keeps its memory.
    @inlinable
    public mutating func removeAll() {
        count = 0
    }

    // MARK: Pieces

    /// Appends the characters of a literal unchanged.
    @inlinable
    public mutating func append(_ literal: StaticString) {
        append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends bytes unchanged.
    @inlinable
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        room(for: bytes.count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends one byte unchanged.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        room(for: 1).storeBytes(of: byte, as: UInt8.self)
        count += 1
    }

    /// Appends a text as a JSON string. Only quotes, backslashes and control characters are escaped.
    public mutating func append(text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            let utf8 = UnsafeRawBufferPointer(utf8)
            var position = 0
            while true {
                let end = utf8.plainCharacters(from: position).end
                append(UnsafeRawBufferPointer(rebasing: utf8[position..<end]))
                guard end < utf8.count else { break }
                appendEscape(of: utf8[end])
                position = end + 1
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(of character: UInt8) {
        append(UInt8(ascii: "\\"))
        if let letter = JSONEscape.letter(ofCharacter: character) {
            append(letter)
        } else {
            append("u00")
            append((character >> 4).lowHexadecimalDigit)
            append(character.lowHexadecimalDigit)
        }
    }

    /// Appends an integer's digits.
    public mutating func append(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(digitsOf: number.magnitude)
    }

    /// Appends the digits of an integer of any type.
    public mutating func append(integer: some FixedWidthInteger) {
        if let number = Int64(exactly: integer) {
            append(number)
        } else {
            append(characters: String(integer))
        }
    }

    /// Appends characters unchanged.
    public mutating func append(characters: String) {
        var characters = characters
        characters.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(digitsOf number: UInt64) {
        var rest = number
        let most = 20
        let end = room(for: 2 * most) + most
        var first = end
        // The digits are written from the last one, and moved afterwards.
        repeat {
            first -= 1
            first.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), as: UInt8.self)
            rest /= 10
        } while rest > 0
        append(UnsafeRawBufferPointer(start: first, count: end - first))
    }

    /// Appends a number of bytes, which `write` must fill completely.
    @inlinable
    public mutating func append(count more: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        write(UnsafeMutableBufferPointer(start: room(for: more).assumingMemoryBound(to: UInt8.self), count: more))
        count += more
    }

    // MARK: Changes

    /// Reorders pieces of the bytes from `start` on, with a separator between them, and drops the other bytes from there.
    mutating func rearrange(from start: Int, _ pieces: some Collection<Range<Int>>, separator: UInt8) {
        let old = Array(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        count = start
        old.withUnsafeBytes { old in
            for (index, piece) in pieces.enumerated() {
                if index > 0 { append(separator) }
                append(UnsafeRawBufferPointer(rebasing: old[(piece.lowerBound - start)..<(piece.upperBound - start)]))
            }
        }
    }

    // MARK: Memory

    /// The position of the next byte.
    @inlinable
    mutating func room(for more: Int) -> UnsafeMutableRawPointer {
        if count + more > capacity { grow(to: 2 * (count + more)) }
        return memory + count
    }

    @inline(never) @usableFromInline
    mutating func grow(to size: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        larger.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = larger
        capacity = size
    }
}
