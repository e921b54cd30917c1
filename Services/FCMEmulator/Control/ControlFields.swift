import JSON
import Time

/// The fields of a control document, or of an object in it. The document has the right form; each read checks the value's range.
struct ControlFields {
    let object: JSONValue
    /// Where the object is in the document, such as `rules[0]`; empty for the document itself.
    let path: String

    init(_ object: JSONValue, at path: String = "") {
        self.object = object
        self.path = path
    }

    func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// - Throws: ``GoogleError`` when it is out of range.
    func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let number = object[name]?.number.flatMap({ Int($0) }) else { return nil }
        guard range.contains(number) else {
            throw violation(name, "expected \(range.lowerBound) to \(range.upperBound), found \(number)")
        }
        return number
    }

    /// - Throws: ``GoogleError`` when it is out of range.
    func seconds(_ name: String, in range: ClosedRange<Int>) throws -> Seconds? {
        try integer(name, in: range).map { Seconds(rawValue: Int64($0)) }
    }

    /// - Throws: ``GoogleError`` when it is out of range.
    func fraction(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let number = object[name]?.number.flatMap({ Double($0) }) else { return nil }
        guard range.contains(number) else {
            throw violation(name, "expected \(range.lowerBound) to \(range.upperBound), found \(number)")
        }
        return number
    }

    func text(_ name: String) -> String? { object[name]?.string }

    /// A value of an enumeration that the form has listed.
    func choice<Value: RawRepresentable>(_ name: String, as type: Value.Type = Value.self) -> Value?
    where Value.RawValue == String {
        text(name).flatMap { Value(rawValue: $0) }
    }

    /// The objects of a list; `nil` where the field is missing.
    func list(_ name: String) -> [ControlFields]? {
        object[name]?.elements?.enumerated().map { ControlFields($1, at: "\(path(of: name))[\($0)]") }
    }

    /// The names of the fields that are present.
    var names: [String] { object.members?.map(\.name) ?? [] }

    func violation(_ name: String, _ problem: String) -> GoogleError {
        let path = path(of: name)
        return .badRequest([FieldViolation(field: path, description: "Invalid value at '\(path)': \(problem)")])
    }
}

extension FieldForm {
    /// One of the cases of an enumeration, by its name.
    static func choice<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> FieldForm where Value.RawValue == String {
        .enumeration(type: "emulator.\(type)", values: Value.allCases.map(\.rawValue))
    }
}
