/// What is wrong with a document or a command: the field, and what was expected of it.
///
/// The text is written for whoever sent the document. It never quotes values longer than a few words, so that it is
/// safe to log and to show.
package struct SchemaViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's path, such as `opt.level` or `areas[2].name`; empty when the document as a whole is wrong.
    package let field: String
    /// What is wrong with it, such as `missing, expected a string`.
    package let problem: String

    package init(field: String, problem: String) {
        self.field = field
        self.problem = problem
    }

    package var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
    }
}

extension SchemaViolation {
    /// The same finding in the words of this project, whichever decoder made it.
    package init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(path: context.codingPath + [key], problem: "missing, but required")
        case .valueNotFound(let type, let context):
            self.init(path: context.codingPath, problem: "expected \(Self.name(of: type)), found null")
        case .typeMismatch(let type, let context):
            self.init(path: context.codingPath, problem: "expected \(Self.name(of: type))")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(field: "", problem: "not valid JSON")
        case .dataCorrupted(let context):
            self.init(path: context.codingPath, problem: context.debugDescription)
        @unknown default:
            self.init(field: "", problem: "not valid")
        }
    }

    private init(path: [any CodingKey], problem: String) {
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

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "an integer"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any ArrayType.Type: "an array"
        default: "an object"
        }
    }
}

/// Lets a type be asked whether it is an array, of whatever.
private protocol ArrayType {}
extension Array: ArrayType {}
