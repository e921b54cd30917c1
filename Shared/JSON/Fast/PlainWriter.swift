/// The text that a ``PlainEncoder`` writes, and the objects and arrays in it that are not finished.
///
/// Held by a pointer for as long as the encoding lasts: an object would have each of its many accesses checked.
struct PlainWriter {
    /// One value that is being written.
    private struct Frame {
        enum Kind {
            /// Nothing is written yet.
            case nothing
            case scalar, object, array
        }

        var kind = Kind.nothing
        /// Where it begins, after the bracket.
        var start = 0
        /// Where the fields of the object begin among all of `fields`.
        var firstField = 0
        var isEmpty = true
    }

    /// A field that is written, with its name, which has a quote before it and none after.
    private struct Field {
        let start: Int
        let nameEnd: Int
        var end: Int
    }

    private(set) var bytes: [UInt8] = []
    private var frames: [Frame] = []
    private var fields: [Field] = []
    /// Something has to be written that only Foundation's encoder can write.
    private(set) var isUnsupported = false

    init() {
        bytes.reserveCapacity(512)
        frames.reserveCapacity(8)
        fields.reserveCapacity(16)
    }

    /// The error of whoever wants to write something else; Foundation's encoder then writes all of it.
    struct Unsupported: Error {}

    mutating func giveUp() -> Unsupported {
        isUnsupported = true
        return Unsupported()
    }

    // MARK: Values

    /// Begins a value that writes itself.
    ///
    /// - Returns: Its number.
    mutating func beginValue() -> Int {
        frames.append(Frame())
        return frames.count - 1
    }

    /// The value that was begun last has written itself.
    mutating func endValue() throws {
        guard !isUnsupported, let frame = frames.popLast() else { throw giveUp() }
        switch frame.kind {
        case .nothing: throw giveUp()
        case .scalar: break
        case .object: try closeObject(frame)
        case .array: bytes.append(UInt8(ascii: "]"))
        }
    }

    mutating func writeText(_ text: String) { bytes.appendJSON(text) }

    mutating func writeInteger(_ value: some FixedWidthInteger) { bytes.appendDigits(value) }

    mutating func writeWord(_ word: StaticString) { bytes.appendLiteral(word) }

    // MARK: Frames

    /// Marks a value as one text, number or word.
    mutating func beginScalar(_ frame: Int) throws {
        guard frames[frame].kind == .nothing else { throw giveUp() }
        frames[frame].kind = .scalar
    }

    /// Opens an object or an array, unless that has happened. Foundation's encoder deals with a change of mind.
    mutating func beginObject(_ frame: Int) { begin(frame, .object, UInt8(ascii: "{")) }
    mutating func beginArray(_ frame: Int) { begin(frame, .array, UInt8(ascii: "[")) }

    private mutating func begin(_ frame: Int, _ kind: Frame.Kind, _ bracket: UInt8) {
        guard frames[frame].kind == .nothing, frame == frames.count - 1 else {
            isUnsupported = isUnsupported || frames[frame].kind != kind
            return
        }
        bytes.append(bracket)
        frames[frame] = Frame(kind: kind, start: bytes.count, firstField: fields.count)
    }

    /// The next element of an array begins.
    mutating func beginElement(_ frame: Int) throws {
        guard frame == frames.count - 1 else { throw giveUp() }
        if !frames[frame].isEmpty { bytes.append(UInt8(ascii: ",")) }
        frames[frame].isEmpty = false
    }

    /// The next field of an object begins.
    mutating func beginField(_ frame: Int, _ name: String) throws {
        guard frame == frames.count - 1 else { throw giveUp() }
        if !frames[frame].isEmpty { bytes.append(UInt8(ascii: ",")) }
        frames[frame].isEmpty = false
        let start = bytes.count
        try appendName(name)
        fields.append(Field(start: start, nameEnd: bytes.count, end: 0))
        bytes.appendLiteral("\":")
    }

    /// The field that was begun last has its value.
    mutating func endField() {
        fields[fields.count - 1].end = bytes.count
    }

    /// Names of ASCII without escapes: with others, Foundation's order is not that of the bytes.
    private mutating func appendName(_ name: String) throws {
        bytes.append(UInt8(ascii: "\""))
        var name = name
        let isPlain = name.withUTF8 { utf8 in
            guard utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
            else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        if !isPlain { throw giveUp() }
    }

    // MARK: The order of fields

    private mutating func closeObject(_ frame: Frame) throws {
        let own = fields[frame.firstField...]
        if !isSorted(own) {
            let sorted = own.sorted { precedes($0, $1) }
            // Two fields of one name: the later one replaces the earlier.
            guard isSorted(sorted[...]) else { throw giveUp() }
            let old = Array(bytes[frame.start...])
            bytes.removeSubrange(frame.start...)
            for (index, field) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(contentsOf: old[(field.start - frame.start)..<(field.end - frame.start)])
            }
        }
        fields.removeSubrange(frame.firstField...)
        bytes.append(UInt8(ascii: "}"))
    }

    private func isSorted(_ fields: ArraySlice<Field>) -> Bool {
        zip(fields, fields.dropFirst()).allSatisfy { precedes($0, $1) }
    }

    private func precedes(_ field: Field, _ other: Field) -> Bool {
        let length = field.nameEnd - field.start
        let otherLength = other.nameEnd - other.start
        for position in 0..<Swift.min(length, otherLength) {
            let (byte, otherByte) = (bytes[field.start + position], bytes[other.start + position])
            if byte != otherByte { return byte < otherByte }
        }
        return length < otherLength
    }
}
