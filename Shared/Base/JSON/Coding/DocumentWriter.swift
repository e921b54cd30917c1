/// The JSON that a ``DocumentEncoder`` writes, with its open objects and arrays.
///
/// The encoder holds it by a pointer: a class would have each of its many accesses checked for exclusivity.
struct DocumentWriter: ~Copyable {
    /// One value that is being written.
    private struct Frame {
        enum Kind {
            /// Nothing is written yet.
            case nothing
            case scalar, object, array
        }

        let id: Int
        var kind = Kind.nothing
        /// Where an object or array begins, after the bracket.
        var start = 0
        /// The index of the object's first field in `fields`.
        var firstField = 0
        var isEmpty = true
    }

    /// A field that is written. Its name has a quote before it and none after.
    private struct Field {
        let start: Int
        let nameEnd: Int
        var end: Int
    }

    /// A handle of an open value: its position in the stack of open values, and a number that is unique, since positions are
    /// reused.
    struct Value {
        fileprivate let index: Int
        fileprivate let id: Int
    }

    var json = JSONBytes(capacity: 512)
    private var frames: [Frame] = []
    private var fields: [Field] = []
    private var lastID = 0
    /// The first error of a function that cannot throw.
    private(set) var failure: EncodingError?

    init() {
        frames.reserveCapacity(8)
        fields.reserveCapacity(16)
    }

    private func impossible(_ reason: String) -> EncodingError {
        .invalidValue((), .init(codingPath: [], debugDescription: reason))
    }

    // MARK: Values

    /// Begins a value that is encoded by its `encode(to:)`.
    mutating func beginValue() -> Value {
        lastID += 1
        frames.append(Frame(id: lastID))
        return Value(index: frames.count - 1, id: lastID)
    }

    /// Ends a value. A value that has written nothing is an empty object.
    mutating func end(_ value: Value) throws {
        try finishValues(inside: value)
        guard let frame = frames.popLast() else { throw impossible("A value ended twice") }
        switch frame.kind {
        case .nothing: json.append("{}")
        case .scalar: break
        case .object: closeObject(frame)
        case .array: json.append(UInt8(ascii: "]"))
        }
        if let failure { throw failure }
    }

    /// Ends the values of nested containers, which have no end of their own.
    private mutating func finishValues(inside value: Value) throws {
        guard value.index < frames.count, frames[value.index].id == value.id else {
            throw impossible("A value was written into after the next one had begun")
        }
        while frames.count > value.index + 1 {
            let last = frames.count - 1
            try end(Value(index: last, id: frames[last].id))
            if frames[last - 1].kind == .object { endField() }
        }
    }

    // MARK: Kinds

    /// Marks a value as one text, number or word, which is written next.
    mutating func beginScalar(_ value: Value) throws {
        try finishValues(inside: value)
        guard frames[value.index].kind == .nothing else { throw impossible("A value was written twice") }
        frames[value.index].kind = .scalar
    }

    /// Opens an object or an array, if it is not open.
    mutating func beginObject(_ value: Value) { begin(value, .object, UInt8(ascii: "{")) }
    mutating func beginArray(_ value: Value) { begin(value, .array, UInt8(ascii: "[")) }

    private mutating func begin(_ value: Value, _ kind: Frame.Kind, _ bracket: UInt8) {
        do {
            try finishValues(inside: value)
            if frames[value.index].kind == kind { return }
            guard frames[value.index].kind == .nothing else { throw impossible("A value was written twice") }
        } catch {
            failure = failure ?? error as? EncodingError
            return
        }
        json.append(bracket)
        frames[value.index].kind = kind
        frames[value.index].start = json.count
        frames[value.index].firstField = fields.count
    }

    // MARK: Fields and elements

    /// Begins the next element of an array.
    mutating func beginElement(_ array: Value) throws {
        try finishValues(inside: array)
        if !frames[array.index].isEmpty { json.append(UInt8(ascii: ",")) }
        frames[array.index].isEmpty = false
    }

    /// Begins the next field of an object.
    mutating func beginField(_ object: Value, _ name: String) throws {
        try finishValues(inside: object)
        if !frames[object.index].isEmpty { json.append(UInt8(ascii: ",")) }
        frames[object.index].isEmpty = false
        let start = json.count
        json.append(text: name)
        fields.append(Field(start: start, nameEnd: json.count - 1, end: 0))
        json.append(UInt8(ascii: ":"))
    }

    /// Ends the current field.
    mutating func endField() {
        fields[fields.count - 1].end = json.count
    }

    /// Calls `body` in a function that cannot throw. The end of the document throws its error.
    mutating func keepingFailure(_ body: (inout DocumentWriter) throws -> Void) {
        do {
            try body(&self)
        } catch {
            failure = failure ?? error as? EncodingError ?? impossible("\(error)")
        }
    }

    // MARK: The order of fields

    /// Sorts the fields by name. Of two with the same name the later one counts.
    private mutating func closeObject(_ frame: Frame) {
        let own = fields[frame.firstField...]
        if !isSorted(own) {
            let sorted = own.enumerated().sorted { order($0.element, $1.element) ?? ($0.offset < $1.offset) }.map(\.element)
            let last = sorted.indices.filter { $0 + 1 == sorted.count || order(sorted[$0], sorted[$0 + 1]) != nil }
            json.rearrange(from: frame.start, last.map { sorted[$0].start..<sorted[$0].end }, separator: UInt8(ascii: ","))
        }
        fields.removeSubrange(frame.firstField...)
        json.append(UInt8(ascii: "}"))
    }

    private func isSorted(_ fields: ArraySlice<Field>) -> Bool {
        zip(fields, fields.dropFirst()).allSatisfy { order($0, $1) == true }
    }

    /// Whether one name sorts before another; `nil` if they are equal.
    private func order(_ field: Field, _ other: Field) -> Bool? {
        let length = field.nameEnd - field.start
        let otherLength = other.nameEnd - other.start
        let bytes = json.bytes
        for position in 0..<Swift.min(length, otherLength) {
            let (byte, otherByte) = (bytes[field.start + position], bytes[other.start + position])
            if byte != otherByte { return byte < otherByte }
        }
        return length == otherLength ? nil : length < otherLength
    }
}
