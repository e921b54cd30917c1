import Base

/// The values that a type reads while it is recorded, by the path of their field.
final class RecordedRun {
    let recorder: SchemaRecorder
    var form: RecordedForm?
    /// The optional fields that are present; `nil` for all.
    private var present: Set<String>?
    /// The fields that may be missing.
    var optionalFields: Set<String> = []
    private var absent: Set<String> = []
    private var values: [String: JSONValue] = [:]
    private var tries: [String: Int] = [:]

    init(recorder: SchemaRecorder, present: Set<String>?) {
        self.recorder = recorder
        self.present = present
    }

    /// The path of a violation's field: `tags[]` for `tags[3]`.
    static func path(of field: String) -> String {
        field.split(separator: "[", omittingEmptySubsequences: false).enumerated().map { index, part in
            index == 0 ? String(part) : part.drop { $0 != "]" }.description
        }.joined(separator: "[")
    }

    /// Whether an optional field is present.
    func isPresent(_ path: String) -> Bool {
        !absent.contains(path) && (present?.contains(path) ?? true)
    }

    func value(_ path: String) -> JSONValue? { values[path] }

    /// - Returns: Whether the value has changed.
    func set(_ path: String, _ value: JSONValue) -> Bool {
        guard values.updateValue(value, forKey: path) != value else { return false }
        return true
    }

    /// Tries another value for a field whose check states no limit.
    ///
    /// - Returns: Whether there is one.
    func tryOther(_ path: String) -> Bool {
        let number = tries[path, default: 0]
        tries[path] = number + 1
        switch number {
        // A plain text, one element, a small number.
        case 0 where isPresent(path): values[path] = 1
        case 0, 1: toggle(path)
        default: return false
        }
        return true
    }

    private func toggle(_ path: String) {
        if isPresent(path) {
            absent.insert(path)
        } else {
            absent.remove(path)
            present?.insert(path)
        }
    }

    // MARK: Primitive values

    func text(_ path: String) -> String {
        switch value(path) {
        // Breaks every limit of texts.
        case nil: "x\0"
        case .string(let text)?: text
        // A length.
        case let value?: String(repeating: "x", count: Int(value.integer ?? 1))
        }
    }

    func integer(_ path: String) -> Int64 {
        // Less than the minimum of nearly every range.
        value(path)?.integer ?? -0x1F_FFFF_FFFF_FFFF
    }

    func count(_ path: String) -> Int {
        switch value(path) {
        // More than the maximum of nearly every list.
        case nil: 10_001
        case .array(let elements)?: elements.count
        case let value?: Int(value.integer ?? 1)
        }
    }
}
