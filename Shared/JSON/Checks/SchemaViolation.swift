/// An error in a document or a command: the field and the problem.
///
/// The text is for the document's sender. It quotes at most a few words of a value, so it is safe to log and to show.
public struct SchemaViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's path, such as `opt.level` or `areas[2].name`; empty if the whole document is invalid.
    package let field: String
    /// The problem, such as `missing, expected a string`.
    package let problem: String

    package init(field: String, problem: String) {
        self.field = field
        self.problem = problem
    }

    /// The violation with the path of an enclosing value in front.
    func inside(_ path: [any CodingKey]) -> SchemaViolation {
        let outer = SchemaViolation(path: path, problem: problem).field
        if outer.isEmpty { return self }
        if field.isEmpty || field.hasPrefix("[") { return SchemaViolation(field: outer + field, problem: problem) }
        return SchemaViolation(field: "\(outer).\(field)", problem: problem)
    }

    public var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
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
