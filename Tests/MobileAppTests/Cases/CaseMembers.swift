import FoundationEssentials
import Base

/// The members of an object of a case. Each is taken by its name, and one that is left over is a word that the runner does not know.
///
/// Every function throws ``CaseMistake``.
struct CaseMembers {
    let place: String
    private var rest: [String: JSONValue]

    init(_ document: JSONValue, _ place: String) throws {
        guard let members = document.members else { throw CaseMistake("\(place): expected an object, got \(document)") }
        self.place = place
        rest = Dictionary(members.map { ($0.name, $0.value) }) { _, last in last }
    }

    mutating func take(_ name: String) -> JSONValue? { rest.removeValue(forKey: name) }

    /// Fails if a member was not taken.
    func end() throws {
        guard rest.isEmpty else { throw CaseMistake("\(place): unknown: \(rest.keys.sorted().joined(separator: ", "))") }
    }

    mutating func text(_ name: String) throws -> String { try required(name, "a text", \.string) }
    mutating func optionalText(_ name: String) throws -> String? { try optional(name, "a text", \.string) }
    mutating func integer(_ name: String) throws -> Int64 { try required(name, "an integer", \.integer) }
    mutating func optionalInteger(_ name: String) throws -> Int64? { try optional(name, "an integer", \.integer) }
    mutating func flag(_ name: String) throws -> Bool { try required(name, "true or false", \.flag) }
    mutating func optionalFlag(_ name: String) throws -> Bool? { try optional(name, "true or false", \.flag) }
    mutating func elements(_ name: String) throws -> [JSONValue] { try required(name, "an array", \.elements) }
    mutating func optionalElements(_ name: String) throws -> [JSONValue]? { try optional(name, "an array", \.elements) }
    mutating func optionalTexts(_ name: String) throws -> [String]? { try optional(name, "an array of texts", \.texts) }
    mutating func texts(_ name: String) throws -> [String] { try required(name, "an array of texts", \.texts) }

    mutating func members(_ name: String) throws -> CaseMembers {
        try CaseMembers(try required(name, "an object") { $0 }, "\(place).\(name)")
    }

    /// A moment in Unix milliseconds.
    mutating func moment(_ name: String) throws -> Int64 { try required(name, "a moment", \.moment) }
    mutating func optionalMoment(_ name: String) throws -> Int64? { try optional(name, "a moment", \.moment) }

    private mutating func required<Value>(_ name: String, _ kind: String, _ read: (JSONValue) -> Value?) throws -> Value {
        guard let value = try optional(name, kind, read) else { throw CaseMistake("\(place).\(name): missing, expected \(kind)") }
        return value
    }

    private mutating func optional<Value>(_ name: String, _ kind: String, _ read: (JSONValue) -> Value?) throws -> Value? {
        guard let member = take(name) else { return nil }
        guard let value = read(member) else { throw CaseMistake("\(place).\(name): expected \(kind), got \(member)") }
        return value
    }
}

extension JSONValue {
    var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The elements of an array of texts.
    var texts: [String]? {
        guard let elements else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    /// A text such as `2026-11-24T12:00:00Z` or `2026-11-24T12:00:00.250Z`, in Unix milliseconds.
    var moment: Int64? {
        guard let string, string.hasSuffix("Z") else { return nil }
        let parts = string.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count == 1 ? 0 : parts[1].utf8.count == 3 ? Int64(parts[1]) : nil
        guard parts.count <= 2, let fraction, let date = try? Date("\(parts[0])Z", strategy: .iso8601) else { return nil }
        return Int64(date.timeIntervalSince1970) * 1_000 + fraction
    }

    static func list(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { .string($0) }) }
}
