/// An error in a document or a command: the field and the problem.
///
/// The text is for the document's sender. It quotes at most a few words of a value, so it is safe to log and to show.
public struct SchemaViolation: Error, Sendable, CustomStringConvertible {
    /// The field's path, such as `opt.level` or `areas[2].name`; empty if the whole document is invalid.
    package let field: String
    /// The problem, such as `missing, expected a string`.
    package let problem: String
    /// The limit that the field's value breaks, if JSON Schema can express it.
    package let limit: FieldLimit?

    package init(field: String, problem: String, limit: FieldLimit? = nil) {
        self.field = field
        self.problem = problem
        self.limit = limit
    }

    /// The violation with the path of an enclosing value in front.
    func inside(_ path: [any CodingKey]) -> SchemaViolation {
        let outer = SchemaViolation(path: path, problem: problem).field
        if outer.isEmpty { return self }
        if field.isEmpty || field.hasPrefix("[") { return SchemaViolation(field: outer + field, problem: problem, limit: limit) }
        return SchemaViolation(field: "\(outer).\(field)", problem: problem, limit: limit)
    }

    public var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
    }
}

extension SchemaViolation: Hashable {
    // The limit follows from the problem.
    public static func == (one: SchemaViolation, other: SchemaViolation) -> Bool {
        one.field == other.field && one.problem == other.problem
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(field)
        hasher.combine(problem)
    }
}

extension SchemaViolation {
    /// An error that a type's own `init(from:)` throws.
    package init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(path: context.codingPath + [key], problem: "missing, but required")
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            self.init(path: context.codingPath, problem: context.debugDescription)
        @unknown default:
            self.init(field: "", problem: "not valid")
        }
    }

    /// - Parameter path: The path from the root of the document.
    init(path: [any CodingKey], problem: String) {
        var field = ""
        for key in path {
            if let index = key.intValue {
                field += "[\(index)]"
            } else {
                field += field.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        self.init(field: String(field.prefix(200)), problem: problem)
    }
}
