import FCM
import Base
import Synchronization

/// One part of the emulator's behaviour, described by a JSON document.
protocol ControlSection: Sendable {
    /// The fields that the document may have.
    static var form: FCMForm { get }

    /// - Parameter fields: The document, which has the form.
    /// - Throws: ``GoogleError`` where a value is out of range.
    init(_ fields: ControlFields) throws

    /// The settings in force, with counters where the section has any.
    var document: JSONValue { get }
}

/// A part of the emulator's behaviour that can be read and changed while it runs.
final class Adjustable<Section: ControlSection>: Sendable {
    private let original: Section
    private let section: Mutex<Section>

    /// - Parameter section: The initial settings.
    init(_ section: Section) {
        original = section
        self.section = Mutex(section)
    }

    func withLock<Result: Sendable>(_ body: (inout Section) throws -> Result) rethrows -> Result {
        try section.withLock { try body(&$0) }
    }

    var document: JSONValue { section.withLock(\.document) }

    /// Replaces the document in force.
    ///
    /// - Throws: ``GoogleError`` naming each invalid field. Then nothing has changed.
    func replace(by document: JSONValue) throws {
        let replacement = try Section(ControlFields(try FormReader.read(document, as: Section.form, repeats: .refused)))
        section.withLock { $0 = replacement }
    }

    /// Restores the initial settings.
    func reset() {
        section.withLock { $0 = original }
    }
}

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

extension FCMForm.Field {
    /// One of the cases of an enumeration, by its name.
    static func choice<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> Self where Value.RawValue == String {
        .enumeration(type: "emulator.\(type)", values: Value.allCases.map(\.rawValue))
    }
}
