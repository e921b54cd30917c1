import FCM
import Base

/// Checks JSON against the form of a protobuf message, as Google's front end does before FCM sees it: every field is known, and
/// every value has its type. The result has snake_case names and no nulls.
struct FormReader {
    /// How repeated fields and map keys are treated.
    enum Repeats: Sendable {
        /// The last one counts, as at FCM (discovery document, `messages.send`).
        case lastCounts
        case refused
    }

    private let repeats: Repeats
    private var violations: [FieldViolation] = []

    private init(repeats: Repeats) {
        self.repeats = repeats
    }

    /// Checks a request's body against a form.
    ///
    /// - Throws: ``GoogleError`` naming each invalid field.
    static func read(_ body: JSONValue, as form: FCMForm, repeats: Repeats = .lastCounts) throws -> JSONValue {
        var reader = FormReader(repeats: repeats)
        let value = reader.message(body, form, path: "")
        guard reader.violations.isEmpty else { throw GoogleError.badRequest(reader.violations) }
        return value
    }

    private mutating func message(_ value: JSONValue, _ form: FCMForm, path: String) -> JSONValue {
        guard let members = value.members else {
            return wrongType(value, "type.googleapis.com/\(form.type)", path: path)
        }
        var read: [JSONValue.Member] = []
        for member in members {
            guard let name = form.name(of: member.name), let field = form.fields[name] else {
                unknownName(member.name, at: path, "Cannot find field.")
                continue
            }
            // In protobuf's JSON, a null field counts as missing.
            guard member.value != .null else { continue }
            let fieldPath = path.isEmpty ? name : "\(path).\(name)"
            if member.value.elements != nil, !field.isList {
                unknownName(name, at: path, "Proto field is not repeating, cannot start list.")
            } else if member.value.members != nil, !field.isObject {
                unknownName(name, at: path, "Starting an object on a scalar field")
            } else {
                set(.init(name, self.value(member.value, field, path: fieldPath)), in: &read, path: fieldPath)
            }
        }
        return .object(read)
    }

    private mutating func set(_ member: JSONValue.Member, in members: inout [JSONValue.Member], path: String) {
        guard let index = members.firstIndex(where: { $0.name == member.name }) else { return members.append(member) }
        members[index] = member
        if case .refused = repeats { refuseRepeat(of: path) }
    }

    private mutating func refuseRepeat(of path: String) {
        violations.append(.init(field: path, description: "Invalid JSON payload received. '\(path)' is there more than once."))
    }

    private mutating func value(_ value: JSONValue, _ form: FCMForm.Field, path: String) -> JSONValue {
        switch form {
        case .message(let form):
            return message(value, form, path: path)
        case .structure:
            return value.members == nil ? wrongType(value, "type.googleapis.com/google.protobuf.Struct", path: path) : value
        case .stringMap:
            return stringMap(value, path: path)
        case .list(let element):
            guard let elements = value.elements else {
                // A single value stands for a list of one.
                return .array([self.value(value, element, path: "\(path)[0]")])
            }
            return .array(elements.enumerated().map { self.value($1, element, path: "\(path)[\($0)]") })
        case .string:
            return value.string == nil ? wrongType(value, "TYPE_STRING", path: path) : value
        case .boolean:
            switch value {
            case .boolean: return value
            case .string("true"): return true
            case .string("false"): return false
            default: return wrongType(value, "TYPE_BOOL", path: path)
            }
        case .int32:
            guard let digits = value.digits, Int32(digits) != nil else { return wrongType(value, "TYPE_INT32", path: path) }
            return .number(digits)
        case .float:
            guard let digits = value.digits, Double(digits) != nil else { return wrongType(value, "TYPE_FLOAT", path: path) }
            return .number(digits)
        case .enumeration(let type, let values):
            return enumeration(value, type: type, values: values, path: path)
        case .duration:
            return duration(value, path: path)
        case .timestamp:
            guard let text = value.string, Self.isTimestamp(text) else {
                return wrongType(value, "type.googleapis.com/google.protobuf.Timestamp", path: path)
            }
            return value
        }
    }

    private mutating func stringMap(_ value: JSONValue, path: String) -> JSONValue {
        guard let members = value.members else { return wrongType(value, "Map", path: path) }
        for (index, member) in members.enumerated() {
            switch member.value {
            case .string: break
            case .object:
                unknownName("value", at: "\(path)[\(index)]", "Starting an object on a scalar field")
            case .array:
                unknownName("value", at: "\(path)[\(index)]", "Proto field is not repeating, cannot start list.")
            case .number, .boolean, .null:
                _ = wrongType(member.value, "TYPE_STRING", path: "\(path)[\(index)].value")
            }
        }
        var seen: Set<String> = []
        guard !members.allSatisfy({ seen.insert($0.name).inserted }) else { return value }
        if case .refused = repeats { refuseRepeat(of: path) }
        seen = []
        return .object(members.reversed().filter { seen.insert($0.name).inserted }.reversed())
    }

    private mutating func enumeration(_ value: JSONValue, type: String, values: [String], path: String) -> JSONValue {
        if let name = value.string?.uppercased(), values.contains(name) { return .string(name) }
        if case .number(let digits) = value, let number = Int(digits), values.indices.contains(number) {
            return .string(values[number])
        }
        return wrongType(value, "type.googleapis.com/\(type)", path: path)
    }

    /// Seconds with up to nine decimals and an `s`. FCM itself checks the range.
    private mutating func duration(_ value: JSONValue, path: String) -> JSONValue {
        let type = "type.googleapis.com/google.protobuf.Duration"
        guard let text = value.string else { return wrongType(value, type, path: path) }
        let field = path.split(separator: ".").last ?? ""
        guard text.hasSuffix("s") else {
            return invalid(path, type, "Field '\(field)', Illegal duration format; duration must end with 's'")
        }
        let digits = text.dropLast().drop { $0 == "-" }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.dropLast().count - digits.count <= 1,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.count == 1 || parts[1].count <= 9,
            let seconds = Int64(parts[0]), seconds <= 315_576_000_000
        else {
            return invalid(path, type, "Field '\(field)', Illegal duration format; not a number of seconds within range")
        }
        return value
    }

    /// `2026-11-21T10:00:00Z`, optionally with a fraction or another offset.
    private static func isTimestamp(_ text: String) -> Bool {
        text.wholeMatch(of: /\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)/) != nil
    }

    private mutating func wrongType(_ value: JSONValue, _ type: String, path: String) -> JSONValue {
        invalid(path, type, String(value.text.prefix(200)))
    }

    private mutating func invalid(_ path: String, _ type: String, _ problem: String) -> JSONValue {
        violations.append(
            .init(field: path, description: "Invalid value at '\(path.isEmpty ? "request" : path)' (\(type)), \(problem)"))
        return .null
    }

    private mutating func unknownName(_ name: String, at path: String, _ problem: String) {
        let place = path.isEmpty ? "" : " at '\(path)'"
        violations.append(
            .init(
                field: path,
                description: "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\"\(place): \(problem)"))
    }
}

extension FCMForm.Field {
    fileprivate var isList: Bool {
        if case .list = self { true } else { false }
    }

    fileprivate var isObject: Bool {
        switch self {
        case .message, .structure, .stringMap: true
        case .list(let element): element.isObject
        case .string, .boolean, .int32, .float, .enumeration, .duration, .timestamp: false
        }
    }
}

extension JSONValue {
    /// A number's digits. Protobuf's JSON also accepts numbers in quotes.
    fileprivate var digits: String? {
        switch self {
        case .number(let digits), .string(let digits): digits
        case .object, .array, .boolean, .null: nil
        }
    }
}
