import Base

/// A field that a type's `init(from:)` has read.
struct RecordedField {
    let name: String
    let schema: JSONValue
    let isRequired: Bool
    var limits: [FieldLimit] = []
    /// The limits of a list's elements.
    var elementLimits: [FieldLimit] = []
}

/// What a type reads from a document.
enum RecordedForm {
    case object([RecordedField])
    /// A single value.
    case value(JSONValue)
}

/// Runs a type's `init(from:)` and its check with different values, until the check has no more violations.
///
/// The first values break most limits. A violation with a limit is noted, and the value is replaced by one within the limit. Without
/// a limit other values are tried. The last attempt leaves the field out, or adds it if it was missing.
final class LimitProbe<Value: Decodable> {
    private let recorder: SchemaRecorder
    private var fields: [RecordedField] = []
    /// The rules that state no limit: the field and the problem.
    private(set) var unstatedRules: Set<String> = []

    init(recorder: SchemaRecorder) {
        self.recorder = recorder
    }

    /// - Throws: ``UnrecordableType``, or the error of the type's `init(from:)`.
    func record() throws -> (form: RecordedForm, value: Value) {
        let all = RecordedRun(recorder: recorder, present: nil)
        var found = try run(all)
        switch all.form {
        case .value(let schema)?:
            guard let found else { throw UnrecordableType(type: "\(Value.self)", problem: "no value passes its check") }
            return (.value(schema), found)
        case .object?, nil:
            // Rules about several fields may have hidden the limits of optional fields. So each optional field is tried with few others.
            for field in fields where !field.isRequired && field.limits.isEmpty {
                let other = try run(RecordedRun(recorder: recorder, present: [field.name]))
                found = found ?? other
            }
            // An empty list hides a rule against equal elements.
            for field in fields where field.schema["type"]?.string == "array" {
                let other = RecordedRun(recorder: recorder, present: nil)
                _ = other.set(field.name, 2)
                found = try run(other) ?? found
            }
            guard let found else {
                throw UnrecordableType(
                    type: "\(Value.self)", problem: "no value passes its check: \(unstatedRules.sorted().joined(separator: ", "))"
                )
            }
            return (.object(fields), found)
        }
    }

    /// - Returns: The value that has passed the check; `nil` if there is none.
    private func run(_ run: RecordedRun) throws -> Value? {
        // More than enough for one violation of each kind in each field.
        for _ in 0..<500 {
            run.form = nil
            let value = try Value(from: RecordingDecoder(run: run, path: ""))
            if case .object(let read)? = run.form, fields.isEmpty { fields = read }
            guard let checked = value as? any Checked else { return value }
            do throws(SchemaViolation) {
                try checked.check()
                return value
            } catch {
                guard resolve(error, in: run) else { return nil }
            }
        }
        return nil
    }

    private func resolve(_ violation: SchemaViolation, in run: RecordedRun) -> Bool {
        let path = RecordedRun.path(of: violation.field)
        guard let limit = violation.limit else {
            unstatedRules.insert(violation.description)
            return run.tryOther(path)
        }
        for place in fields.indices {
            if fields[place].name == path { fields[place].limits.append(limit) }
            if fields[place].name + "[]" == path { fields[place].elementLimits.append(limit) }
        }
        return run.set(path, limit.example)
    }
}
