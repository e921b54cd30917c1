/// Reads bytes one after another, and none beyond their end.
struct PictureReader {
    private let bytes: [UInt8]
    private let shortage: PictureRefusal
    private(set) var position = 0

    /// - Parameter part: The part of a file that these bytes are; `nil` for the whole file.
    init(_ bytes: [UInt8], of part: String? = nil) {
        self.bytes = bytes
        shortage = part.map { PictureRefusal.structure("\($0) is too short") } ?? .truncated
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(PictureRefusal) -> UInt8 {
        guard position < bytes.count else { throw shortage }
        defer { position += 1 }
        return bytes[position]
    }

    /// - Parameter count: As a file says it: of any size, but not negative.
    mutating func take(_ count: Int) throws(PictureRefusal) -> [UInt8] {
        guard count <= bytes.count - position else { throw shortage }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Reads up to the next byte with a value, which it leaves.
    mutating func take(until value: UInt8) throws(PictureRefusal) -> [UInt8] {
        guard let end = bytes[position...].firstIndex(of: value) else { throw shortage }
        return try take(end - position)
    }

    /// Reads a number of at most four bytes.
    mutating func bigEndian(_ count: Int) throws(PictureRefusal) -> Int {
        var number = 0
        for _ in 0..<count {
            let next = try byte()
            number = number << 8 | Int(next)
        }
        return number
    }

    /// Reads a number of at most four bytes.
    mutating func littleEndian(_ count: Int) throws(PictureRefusal) -> Int {
        var number = 0
        for index in 0..<count {
            let next = try byte()
            number |= Int(next) << (8 * index)
        }
        return number
    }

    /// Reads from an earlier position once more.
    mutating func goBack(to earlier: Int) { position = min(position, earlier) }

    /// What was read since an earlier position.
    func bytes(since earlier: Int) -> [UInt8] { Array(bytes[earlier..<position]) }
}

extension [UInt8] {
    /// The bytes of a number, the highest or the lowest first.
    init(bigEndian number: some FixedWidthInteger) { self = Swift.withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } }
    init(littleEndian number: some FixedWidthInteger) { self = Swift.withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) } }
}

extension UInt8 {
    /// Whether it is one of `A–Z a–z`.
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}
