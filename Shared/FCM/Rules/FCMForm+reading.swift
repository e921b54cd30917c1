import Base

extension FCMForm {
    /// Reads an object of this form. Every field must be known, and every value must be of the field's type.
    ///
    /// - Parameter path: The object's own path, such as `message.android`.
    /// - Returns: The object with snake_case names, and choices in upper case.
    /// - Throws: ``SchemaViolation`` for the first invalid field.
    func read(_ value: JSONValue, at path: String) throws(SchemaViolation) -> JSONValue {
        guard let members = value.members else { throw SchemaViolation(field: path, problem: "expected an object") }
        var read: JSONValue = [:]
        for member in members.sorted(by: { $0.name < $1.name }) {
            guard let name = name(of: member.name), let field = fields[name] else {
                throw SchemaViolation(
                    field: "\(path).\(member.name.prefix(100))", problem: "not a field that FCM has there, or may be sent")
            }
            let path = "\(path).\(name)"
            guard read[name] == nil else { throw SchemaViolation(field: path, problem: "there in both spellings") }
            read[name] = try field.read(member.value, at: path)
        }
        return read
    }
}

extension FCMForm.Field {
    fileprivate func read(_ value: JSONValue, at path: String) throws(SchemaViolation) -> JSONValue {
        switch (self, value) {
        case (.message(let form), _): return try form.read(value, at: path)
        case (.string, .string), (.boolean, .boolean): return value
        case (.structure, .object), (.float, .number):
            try value.checkNumbers(at: path)
            return value
        case (.int32, .number(let digits)) where Int32(digits) != nil: return value
        case (.stringMap, .object(let members)):
            for member in members.sorted(by: { $0.name < $1.name }) where member.value.string == nil {
                throw SchemaViolation(field: "\(path).\(member.name.prefix(100))", problem: "expected a string")
            }
            return value
        case (.list(let element), .array(let elements)):
            var read: [JSONValue] = []
            for (index, value) in elements.enumerated() { read.append(try element.read(value, at: "\(path)[\(index)]")) }
            return .array(read)
        case (.enumeration(_, let values), .string(let text)) where values.contains(text.uppercased()):
            return .string(text.uppercased())
        case (.duration, .string(let text)) where FCMDuration(text) != nil: return value
        case (.timestamp, .string(let text))
        where text.wholeMatch(of: /\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)/) != nil:
            return value
        default: throw SchemaViolation(field: path, problem: "expected \(expected)")
        }
    }

    /// The valid values, in words.
    private var expected: String {
        switch self {
        case .string: "a string"
        case .boolean: "true or false"
        case .int32: "an integer of 32 bits"
        case .float: "a number"
        case .enumeration(_, let values): "one of \(values.joined(separator: ", "))"
        case .duration: "a duration in seconds, such as \"3.5s\""
        case .timestamp: "a time as of RFC 3339, such as \"2026-11-22T16:20:00Z\""
        case .stringMap: "an object whose values are strings"
        case .structure, .message: "an object"
        case .list: "an array"
        }
    }
}

extension JSONValue {
    /// Checks that each number fits 64-bit floating point, as FCM reads it. A reader of JSON keeps integers of any length.
    fileprivate func checkNumbers(at path: String) throws(SchemaViolation) {
        switch self {
        case .object(let members):
            for member in members { try member.value.checkNumbers(at: "\(path).\(member.name.prefix(100))") }
        case .array(let elements):
            for (index, element) in elements.enumerated() { try element.checkNumbers(at: "\(path)[\(index)]") }
        case .number(let digits):
            guard Double(digits)?.isFinite == true else {
                throw SchemaViolation(field: path, problem: "expected a number that fits 64-bit floating point")
            }
        case .string, .boolean, .null: break
        }
    }
}

/// A protobuf duration in JSON: seconds with up to nine decimals and an `s`.
struct FCMDuration: Hashable {
    let isNegative: Bool
    /// Rounded down.
    let whole: Seconds
    let hasFraction: Bool

    /// - Returns: `nil` for any other text.
    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /(-?)([0-9]{1,12})(\.[0-9]{1,9})?s/), let seconds = Int64(match.2) else {
            return nil
        }
        isNegative = !match.1.isEmpty
        whole = Seconds(rawValue: seconds)
        hasFraction = match.3?.contains { !".0".contains($0) } ?? false
    }
}
